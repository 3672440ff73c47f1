// Plans of graphs that are run again and again.
#include "profile/plan_table.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

struct plan_writer final : observer {
    explicit plan_writer(type_cache& t) : types(t) {}
    void on_event(const task_event& e) override {
        record r{.task = e.task.value, .other = e.other.value};
        r.kind = e.kind == event_kind::spawned ? record_kind::spawned
                 : e.kind == event_kind::edge  ? record_kind::edge
                                               : record_kind::ready;
        if (e.facts != nullptr) {
            r.aux = types.number_of(e.name, e.facts->where);
            r.flags = flags_of(*e.facts);
        }
        records.push_back(r);
    }
    type_cache& types;
    std::vector<record> records;
};

}  // namespace

std::uint8_t flags_of(const spawn_facts& facts) {
    return static_cast<std::uint8_t>((facts.level & spawn_priority) |
                                     (facts.restricted ? spawn_restricted : 0) |
                                     (facts.background ? spawn_background : 0));
}

std::uint32_t plan_table::number_of(const graph_run_events& run, type_cache& types) {
    {
        const std::lock_guard lock(mutex_);
        const auto there = numbers_.find(run.plan);
        if (there != numbers_.end()) return there->second;
        if (records_ > most_records) return 0;
    }
    plan_writer writer(types);
    run.tell_each(writer);
    const std::lock_guard lock(mutex_);
    const auto number = static_cast<std::uint32_t>(first_ + plans_.size());
    const auto [there, is_new] = numbers_.try_emplace(run.plan, number);
    if (!is_new) return there->second;
    records_ += writer.records.size();
    plans_.push_back(std::make_shared<plan_records>(run.id_offset, std::move(writer.records)));
    return number;
}

std::shared_ptr<const plan_records> plan_table::at(std::uint32_t number) const {
    const std::lock_guard lock(mutex_);
    return number >= first_ && number - first_ < plans_.size() ? plans_[number - first_] : nullptr;
}

void plan_table::forget() {
    const std::lock_guard lock(mutex_);
    first_ += static_cast<std::uint32_t>(plans_.size());
    plans_.clear();
    numbers_.clear();
    records_ = 0;
}

}  // namespace profile
BRAID_NAMESPACE_END
