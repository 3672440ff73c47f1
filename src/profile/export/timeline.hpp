#pragma once
// A whole capture as steps in order of time, with what is known of each: names, details, arrows.
// Writers of other programs' formats need nothing else.

#include "profile/export/steps.hpp"

#include <optional>
#include <queue>
#include <tuple>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Takes bytes of a file, front to back. False: it cannot take more, stop.
using byte_sink = std::function<bool(std::string_view bytes)>;

/// One fact about a step. `text` is said where it is not empty, else `number`.
struct detail {
    const char* name;
    std::uint64_t number;
    std::string_view text;
};

/// An arrow: from the end of the slice of `from` to the begin of that of `to`; or from where work
/// was handed to a processor to where that began with it.
struct flow {
    std::uint64_t task = 0;  // at the end where it is looked up
    std::uint64_t id = 0;    // from 1
};

/// The capture must outlive it. Memory: about 100 bytes for each task of the capture.
class timeline {
public:
    explicit timeline(const capture& of);
    timeline(const timeline&) = delete;
    timeline& operator=(const timeline&) = delete;

    /// The next one of all rows; times never fall. Where times are equal, ends come before begins.
    bool next(step& to);
    /// How much of it is told, 0 to 1.
    double share() const;

    /// What a reader sees written on a slice, an instant or a counter. Not for ends.
    std::string label(const step& at) const;
    /// Valid until the next call.
    const std::vector<detail>& details(const step& at);
    /// Name and place in the source, or null where there is none.
    const record_type* type(const step& at) const;
    /// Arrows that leave at this end of a slice or this instant, or arrive at this begin.
    std::span<const flow> flows(const step& at) const;

    std::uint32_t frame_rows() const { return frame_rows_; }
    const capture& about() const { return capture_; }

private:
    static constexpr std::uint32_t none = 0xffffffff;
    struct place {
        std::uint64_t time = 0;
        std::uint32_t row = none;
        std::uint32_t slice = 0;
        bool is(const step& s) const { return row == s.row && slice == s.slice; }
    };
    struct task_facts {
        std::optional<std::uint64_t> spawned, ready, completed;
        std::uint64_t parent = 0;
        std::uint64_t released_by = 0;
        std::uint32_t type = 0;
        std::uint32_t stolen_from = none;
        place first_begin, last_end;
        // Of work outside, which a processor with a lane ran: where a task deferred it.
        const record* deferral = nullptr;
        std::uint64_t last_outside = 0;  // of a task: such work of it that ended after it; 0: none
    };
    struct head {
        step now;
        lane_steps rest;
    };
    struct frame_step {
        step now;
        bool begins;  // and lasts
    };
    struct frame {
        const record* begin;
        const record* end;
        std::uint64_t from, to;
    };

    void learn(const record& r, std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges);
    void learn_slices();
    void learn_outside();
    void join_outside(std::uint64_t& id);
    void join(std::vector<std::pair<std::uint64_t, std::uint64_t>>& edges);
    void lay_frames();
    std::vector<frame> find_frames() const;
    void bound_frames(std::vector<frame>& found) const;
    void lay_frame(const frame& one, std::uint32_t row);
    void queue_lane(std::uint32_t number);
    bool is_told_elsewhere(const step& at) const;
    std::string name_of_type(std::uint32_t number, const char* otherwise) const;
    std::uint32_t type_of_task(std::uint64_t task) const;
    const task_facts* facts(std::uint64_t task) const;
    const task_facts* last_outside_of(const task_facts& task) const;
    void details_of_task(const record& r);

    const capture& capture_;
    std::uint64_t last_ = 0;
    std::unordered_map<std::uint64_t, task_facts> tasks_;
    std::vector<flow> leaving_, arriving_, deferrals_;  // by task
    std::vector<head> lanes_;
    std::vector<frame_step> frames_;
    std::size_t next_frame_ = 0;
    std::uint32_t frame_rows_ = 0;
    std::vector<detail> details_;
    std::uint64_t told_ = 0, records_ = 0;

    struct turn {
        std::uint64_t time;
        bool begin;
        std::uint32_t source;  // a lane; one more: the frames
        bool operator>(const turn& other) const {
            return std::tie(time, begin, source) > std::tie(other.time, other.begin, other.source);
        }
    };
    static turn turn_of(const step& at, std::uint32_t source);
    turn turn_of_frame() const;
    std::priority_queue<turn, std::vector<turn>, std::greater<>> turns_;
};

}  // namespace profile
BRAID_NAMESPACE_END
