#pragma once
// What is told of each run of a graph is nearly the same each time. It is kept once, and a run
// takes one place in the ring.

#include "braid/core/observer.hpp"
#include "profile/type_table.hpp"

#include <memory>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// In the ring: a run of a graph as the plan `aux` has it, whose task is `task`; ids of nodes are
/// moved by what `other` is away from the plan's.
inline constexpr record_kind ring_graph_run{0xff};

struct plan_records {
    std::uint64_t id_offset;
    std::vector<record> records;  // without time and core
};

/// The plans of one recorder, for the capture that is being made. Any thread.
class plan_table {
public:
    /// 0: there are too many.
    std::uint32_t number_of(const graph_run_events& run, type_cache& types);
    /// Null: it was of a capture before.
    std::shared_ptr<const plan_records> at(std::uint32_t number) const;
    void forget();

private:
    static constexpr std::size_t most_records = std::size_t{1} << 20;

    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
    std::vector<std::shared_ptr<const plan_records>> plans_;
    std::uint32_t first_ = 1;  // number of plans_[0]
    std::size_t records_ = 0;
};

/// One thread's. A graph that is run once is told as it is.
class plan_cache {
public:
    explicit plan_cache(plan_table& all) : all_(all) {}
    /// 0: tell each of its events.
    std::uint32_t number_of(const graph_run_events& run, type_cache& types) {
        row& r = rows_[run.plan % rows];
        if (r.plan != run.plan) {
            r = {run.plan, 0};
            return 0;
        }
        if (r.number == 0) r.number = all_.number_of(run, types);
        return r.number;
    }
    void forget() { std::fill(std::begin(rows_), std::end(rows_), row{}); }

private:
    static constexpr std::size_t rows = 64;
    struct row {
        std::uint64_t plan = 0;
        std::uint32_t number = 0;
    };
    plan_table& all_;
    row rows_[rows];
};

/// The flags of a `spawned`.
std::uint8_t flags_of(const spawn_facts& facts);

}  // namespace profile
BRAID_NAMESPACE_END
