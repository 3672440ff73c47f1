#include "reload/migrate/state_change.hpp"

#include "reload/module_state.hpp"

#include <algorithm>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

const std::string no_path;

const std::string& path_of(const live_code* code) {
    return code != nullptr ? code->code.path : no_path;
}

}  // namespace

bool state_change::is_for_this_code() const {
    if (planned_ == nullptr || planned_->after.size() != of_.list.size()) return false;
    for (std::size_t i = 0; i < of_.list.size(); ++i) {
        const module_state& m = *of_.list[i]->state_;
        const std::string& after = path_of((m.ready != nullptr ? m.ready : m.current).get());
        if (planned_->before[i] != path_of(m.current.get()) || planned_->after[i] != after)
            return false;
    }
    return true;
}

bool state_change::has_all_types() const {
    for (const arena_state* const one : of_.arenas) {
        const std::lock_guard guard(one->mutex);
        for (const arena_state::type& type : one->types) {
            if (std::ranges::find(planned_->types, type.name) == planned_->types.end()) {
                return false;
            }
        }
    }
    return true;
}

unsigned state_change::prepare(std::string& text) {
    const bool ready = std::ranges::any_of(
        of_.list, [](const auto& one) { return one->state_->ready != nullptr; });
    of_.plan_is_late = false;
    if (of_.arenas.empty() || !ready) return 0;
    planned_ = of_.state_planned;
    later_ = !is_for_this_code() || !has_all_types();
    of_.plan_is_late = later_;
    if (later_) {
        ask_for_plan();
        return 0;
    }
    if (!planned_->plan.refused.empty()) {
        why_ = planned_->plan.refused.front();
    } else if (planned_->plan.moves) {
        build();
    }
    table_ = state_ != nullptr || !why_.empty() ? planned_->table : "";
    return why_.empty() ? 0 : refuse(text);
}

/// A check that runs makes a plan at its end; otherwise there has to be one.
void state_change::ask_for_plan() {
    if (!of_.checking.try_lock()) return;
    of_.checking.unlock();
    for (const auto& one : of_.list) {
        one->state_->dirty = one->state_->dirty || one->state_->ready != nullptr;
    }
    of_.changes.wake();
}

bool state_change::takes(const module_state& m) const { return m.ready != nullptr && !later_; }

void state_change::build() {
    const std::int64_t begun = platform::monotonic_ns();
    try {
        state_ = std::make_unique<kept_state>(planned_, of_.options.keep_frames != 0);
        state_->moved.build(of_.arenas);
    } catch (const migration_refused& no) {
        state_.reset();
        why_ = no.why;
    }
    time_ = nanoseconds(platform::monotonic_ns() - begun);
}

unsigned state_change::refuse(std::string& text) {
    std::string said = text;
    std::vector<module_state*> refused;
    for (std::size_t i = 0; i < of_.list.size(); ++i) {
        module_state& m = *of_.list[i]->state_;
        if (m.ready == nullptr || !planned_->concerned[i]) continue;
        refused.push_back(&m);
        said += said.empty() ? "" : "; ";
        said += "module '" + m.options.name + "' was refused, and " +
                (m.current != nullptr ? "the code before goes on" : "stubs run") +
                ": the state cannot go over: " + why_;
        m.refused_by_state = m.ready->hash;
    }
    // Nothing below fails for want of memory: what is refused is said.
    for (module_state* const m : refused) m->ready = nullptr;
    text.swap(said);
    of_.drop_unfit(true);
    return static_cast<unsigned>(refused.size());
}

std::string state_change::remark() const {
    if (state_ == nullptr) return "";
    const migration& done = state_->moved;
    char time[32];
    std::snprintf(time, sizeof time, "%.2f ms", static_cast<double>(time_.value) / 1e6);
    std::string text = "; the state went over: " + std::to_string(done.objects()) + " objects, " +
                       std::to_string(done.bytes()) + " bytes, " + time;
    if (done.outside() != 0) {
        text += ", " + std::to_string(done.outside()) + " pointers lead out of it";
    }
    if (of_.options.keep_frames != 0 && !can_go_back()) {
        text += "; there is no way back, because a " + done.moved_type() + " can only be moved";
    }
    return text;
}

bool state_change::can_go_back() const {
    return state_ == nullptr || state_->moved.moved_type().empty();
}

std::unique_ptr<kept_state> state_change::commit(outcome::migration& done) noexcept {
    if (state_ == nullptr) return nullptr;
    done = {state_->moved.objects(), state_->moved.bytes(), state_->moved.outside(), time_};
    state_->moved.commit();
    return std::move(state_);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
