#pragma once
// The rows of a Perfetto trace: which there are, how they are numbered, and for which lanes the
// system's own messages about threads can be used.

#include "braid/profile/capture.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

class track_numbers {
public:
    explicit track_numbers(const capture& of);

    enum class kind : std::uint64_t {
        process = 1,
        lane,
        off_core,
        frames,
        counter,
        voluntary,
        involuntary,
    };
    static std::uint64_t id(kind of, std::uint32_t number) {
        return static_cast<std::uint64_t>(of) << 32 | number;
    }

    std::int32_t process() const { return process_; }
    /// The system's number of the lane's thread; 0: none that Perfetto can tell from the others.
    std::int32_t thread(std::uint32_t lane) const { return lanes_[lane].thread; }
    /// Its switches go into the file as states of a thread. Otherwise as slices of a row of their
    /// own: a thread state names the core, and is of a thread that has a number.
    bool has_states(std::uint32_t lane) const { return lanes_[lane].states; }
    /// It was switched off its core, and has no states.
    bool has_off_core_row(std::uint32_t lane) const { return lanes_[lane].off_core_row; }
    /// Where the thread was before it was first switched; no_core: not known.
    std::uint16_t first_core(std::uint32_t lane) const { return lanes_[lane].first_core; }

private:
    struct lane_facts {
        std::int32_t thread = 0;
        bool states = false;
        bool off_core_row = false;
        std::uint16_t first_core = record::no_core;
    };

    void look_at_switches(const lane& l, lane_facts& to) const;

    std::int32_t process_ = 0;
    std::vector<lane_facts> lanes_;
};

}  // namespace profile
BRAID_NAMESPACE_END
