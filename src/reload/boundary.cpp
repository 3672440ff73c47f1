// A frame boundary: nobody holds the code that is to be replaced, then all calls go over, then
// everything goes on.
#include "braid/reload/report.hpp"
#include "reload/dwarf/places.hpp"
#include "reload/module_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

bool replacement::one::stayed() const { return of->current->file.build_id == old_build; }

replacement modules_state::find_replacement(
    const std::function<bool(const module_state&)>& wanted) {
    const std::lock_guard guard(mutex);
    replacement all;
    for (const auto& each : list) {
        module_state& m = *each->state_;
        if (m.current == nullptr || !wanted(m)) continue;
        const platform::image_place& place = m.current->code.place;
        all.modules.push_back({&m, m.current->file.build_id, m.current->code.path, place});
        all.codes.push_back({{place.begin, place.end, m.options.tag},
                             m.options.before_swap == before_swap::cancel});
        all.within = std::max(all.within, m.options.drain_for);
    }
    return all;
}

std::string modules_state::text_of(const barrier& rest, const replacement& all,
                                   std::size_t piece) const {
    if (*rest.awake() != '\0') {
        return std::string(rest.awake()) + " did not come to rest in time";
    }
    const replacement::one& code = all.modules[piece];
    std::vector<std::byte> file;
    platform::file_mark mark;
    platform::read_file(code.old_file, file, mark);
    std::string text;
    std::size_t named = 0;
    for (const holder& h : rest.named()) {
        if (h.piece != piece) continue;
        ++named;
        text += text.empty() ? "its code is held by " : ", ";
        text += braid::text_of(h.use);
        const char* const who = h.use == code_use::stack ? h.thread : h.name;
        if (*who != '\0') text.append(" '").append(who).append("'");
        const std::string place = place_of(file, h.address - code.old_place.moved_by);
        if (!place.empty()) text.append(" (").append(place).append(")");
    }
    if (rest.count_of(piece) > named) {
        text.append(" and ").append(std::to_string(rest.count_of(piece) - named)).append(" more");
    }
    return text;
}

/// Modules whose code is held keep it; the others have their way.
void modules_state::clear_way(barrier& rest, replacement& all) {
    nanoseconds within = all.within;
    while (!all.codes.empty() && !rest.reach(all.codes, within)) {
        within = nanoseconds{0};
        const bool all_stay = *rest.awake() != '\0';
        for (std::size_t i = all.codes.size(); i-- != 0;) {
            if (!all_stay && rest.count_of(i) == 0) continue;
            module_state& m = *all.modules[i].of;
            refuse(m, "", text_of(rest, all, i));
            const std::lock_guard guard(mutex);
            m.ready = nullptr;
            all.drop(i);
        }
        const std::lock_guard guard(mutex);
        drop_unfit(false);
        for (std::size_t i = all.codes.size(); i-- != 0;) {
            if (all.modules[i].of->ready == nullptr) all.drop(i);
        }
    }
}

void modules_state::cross(outcome& went, barrier& rest, replacement& all) {
    all = find_replacement([](const module_state& m) { return m.ready != nullptr; });
    clear_way(rest, all);
    const std::lock_guard guard(mutex);
    // What has become ready since would be replaced without having been asked for.
    for (const auto& each : list) {
        module_state& m = *each->state_;
        const auto asked = [&](const replacement::one& one) { return one.of == &m; };
        if (m.current != nullptr && std::ranges::none_of(all.modules, asked)) {
            m.later = std::move(m.ready);
        }
    }
    struct put_back {
        modules_state& self;
        ~put_back() {
            bool more = false;
            for (const auto& each : self.list) {
                module_state& m = *each->state_;
                if (m.later == nullptr) continue;
                m.ready = std::move(m.later);
                more = true;
            }
            // relaxed: as in at_frame_boundary().
            if (more) self.news.store(true, std::memory_order_relaxed);
        }
    } guard_of_ready{*this};
    swap(went);
    // relaxed: as in at_frame_boundary().
    news.store(plan_is_late || back != nullptr, std::memory_order_relaxed);
    retire(all, rest);
}

/// Objects that stay where they are end by the code that runs then.
void modules_state::renew_destroyers(arena_state& in, const replacement& all,
                                     bool is_stopped) noexcept {
    const std::lock_guard guard(in.mutex);
    for (arena_state::type& type : in.types) {
        const auto at = reinterpret_cast<std::uintptr_t>(type.destroy);
        for (const replacement::one& one : all.modules) {
            if (at < one.old_place.begin || at >= one.old_place.end) continue;
            const auto& types = one.of->current->code.types;
            const auto own = std::ranges::find(types, type.name, &loaded_type::name);
            if (own != types.end()) {
                type.destroy = own->maker.destroy;
            } else {
                type.migrated = true;
                if (is_stopped) type.destroy = nullptr;
            }
            break;
        }
    }
}

void modules_state::retire(const replacement& all, barrier& rest) noexcept {
    rest.forget(all.codes);
    for (arena_state* const in : arenas) renew_destroyers(*in, all, options.stop_stale_calls);
    for (const replacement::one& one : all.modules) {
        if (!one.stayed()) known.retire(one.old_place);
    }
}

void call_reloaded(const replacement::one& replaced, const outcome& went, std::int64_t begun_ns) {
    if (replaced.stayed()) return;
    const live_code& code = *replaced.of->current;
    const report done{.module = replaced.of->options.name.c_str(),
                      .old_build = replaced.old_build.c_str(),
                      .new_build = code.file.build_id.c_str(),
                      .objects = went.migrated().objects,
                      .bytes = went.migrated().bytes,
                      .boundary_ns = platform::monotonic_ns() - begun_ns};
    static const std::string type = type_in(spelled<void(const report&)>());
    for (const loaded_function& one : code.code.functions) {
        if (one.name != "reloaded" || one.type.text != type) continue;
        reinterpret_cast<void (*)(const report&)>(one.function)(done);
    }
}

/// A safepoint would wait for the check that runs, which is of the background class.
bool modules_state::comes_too_early() {
    const std::lock_guard guard(mutex);
    const bool replaces = std::ranges::any_of(list, [](const auto& one) {
        return one->state_->ready != nullptr && one->state_->current != nullptr;
    });
    return replaces && (checking_task || (last_task && !tasks.done(last_task)));
}

outcome modules_state::at_frame_boundary() noexcept {
    outcome went;
    // relaxed: the mutex orders what is behind it.
    if (!news.load(std::memory_order_relaxed)) return went;
    if (comes_too_early()) return went;
    const std::int64_t begun = platform::monotonic_ns();
    barrier rest(tasks);
    replacement all;
    try {
        const bool tries = follow_trial();
        if (!follow_way_back(went, rest, all)) cross(went, rest, all);
        // relaxed: as in cross().
        if (tries) news.store(true, std::memory_order_relaxed);
        if (!options.watch) free_spent();
    } catch (...) {
        out_of_memory.store(true, std::memory_order_relaxed);
    }
    rest.go_on();
    for (const replacement::one& one : all.modules) {
        try {
            call_reloaded(one, went, begun);
        } catch (...) {
            ++went.refused_;
            went.fixed_ = "Module code was replaced, and a reloaded() threw.";
        }
    }
    if (out_of_memory.exchange(false, std::memory_order_relaxed)) {
        ++went.refused_;
        went.fixed_ = "There was no memory to check or to load a module; it is tried again.";
    }
    return went;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
