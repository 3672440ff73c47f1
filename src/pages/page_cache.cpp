#include "braid/pages/page_cache.hpp"

#include "pages/cache_state.hpp"

#include <algorithm>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN

using detail::locked;
using detail::page_slot;
using detail::page_stage;

namespace {

page_cache_options within_limits(page_cache_options o) {
    if (o.name == nullptr) o.name = "pages";
    o.frames_in_flight =
        std::clamp(o.frames_in_flight, 1U, page_cache_options::most_frames_in_flight);
    o.retries = std::min(o.retries, page_cache_options::most_retries);
    o.read_ahead = std::min(o.read_ahead, page_cache_options::most_read_ahead);
    return o;
}

}  // namespace

page_cache::state::state(scheduler& of, file_reader& by, const page_pack& from,
                         const page_cache_options& o)
    : s(of),
      io(by),
      pack(from),
      options(within_limits(o)),
      for_room(lock),
      pages(of.internals(), lock, from.size(), o.resident_bytes, options.frames_in_flight),
      later(of, {.budget = o.unpack_budget}),
      loads(of) {
    for (std::uint32_t i = 0; i < pages.size(); ++i) pages[i].bytes = pack[page_id{i}].bytes;
}

page_cache::page_cache(scheduler& s, file_reader& io, const page_pack& pack,
                       const page_cache_options& options)
    : state_(new state(s, io, pack, options)) {}

/// A child of fork() leaves all as it is: the tasks that load are its parent's.
page_cache::~page_cache() {
    if (state_->in_child()) return;
    state_->loads.cancel();
    try {
        state_->loads.wait();
    } catch (...) {  // want() has said what failed
    }
    for (std::uint32_t i = 0; i < state_->pages.size(); ++i) state_->free(i);
    delete state_;
}

// ---- frames ------------------------------------------------------------------------------------

void page_cache::begin_frame(std::uint64_t frame) {
    if (state_->in_child()) return;
    {
        const locked lock(state_->lock);
        state_->pages.begin_frame(frame);
        ++state_->room_changes;  // what the frame before has used may give way
    }
    state_->wake(state_->for_room);
}

std::size_t page_cache::unpack_some() { return state_->in_child() ? 0 : state_->later.run_frame(); }

// ---- asked for ---------------------------------------------------------------------------------

task_id page_cache::want(page_id id, std::uint64_t frame) {
    state& s = *state_;
    if (id.index >= s.pages.size() || s.in_child()) return {};
    state::page_list next;
    const task_id load = s.want(id.index, frame, &next);
    for (unsigned i = 0; i < next.count; ++i) s.want(next.pages[i], UINT64_MAX, nullptr);
    return load;
}

/// Gives `next` what is to be asked for with it; null: it is asked for with another one. Empty: it
/// is resident, or no task could be made.
task_id page_cache::state::want(std::uint32_t page, std::uint64_t frame, page_list* next) {
    page_slot& p = pages[page];
    bool is_urgent_now = false;
    task_id known;
    std::uint64_t ended = 0;
    {
        const locked l(lock);
        const page_stage stage = p.stage.load(relaxed);
        if (next != nullptr) {
            remember(page, frame);
            p.wanted = std::max(p.wanted, frame);
            note_that_wanted(p);
        }
        if (stage == page_stage::resident) return {};
        p.needed_by = std::min(p.needed_by, frame);
        known = p.load;
        ended = p.loads_ended;
        is_urgent_now = stage != page_stage::absent && is_urgent(p);
        if (stage == page_stage::absent && !known) {
            if (next != nullptr) followers(page, *next);
            p.ahead.store(next == nullptr && p.needed_by == UINT64_MAX, relaxed);
            p.asked_at = active_policy::now();
            failures.erase(page);
        }
    }
    if (is_urgent_now) hurry(page);
    if (known) return known;
    const priority_level level =
        frame <= pages.frame() ? priority_level::high : priority_level::normal;
    const task_id id =
        co_spawn(s, {.name = pack[page_id{page}].name, .priority = level, .within = &loads},
                 load(*this, page, frame))
            .id();
    if (!id) return {};
    const locked l(lock);
    // Else it may have ended already.
    if (p.loads_ended == ended) p.load = id;
    return id;
}

void page_cache::state::note_that_wanted(page_slot& p) {
    counts.ahead_used += p.ahead.load(relaxed);
    p.ahead.store(false, relaxed);
}

void page_cache::state::remember(std::uint32_t page, std::uint64_t frame) {
    const bool together = wanted_last != page_slot::none && wanted_last_in == frame;
    if (together && wanted_last != page) pages[wanted_last].follower = page;
    wanted_last = page;
    wanted_last_in = frame;
}

void page_cache::state::followers(std::uint32_t page, page_list& to) {
    std::uint32_t at = pages[page].follower;
    for (unsigned i = 0; i < options.read_ahead && at != page_slot::none && at != page; ++i) {
        if (pages[at].stage.load(relaxed) == page_stage::absent) to.pages[to.count++] = at;
        at = pages[at].follower;
    }
}

// ---- it is late --------------------------------------------------------------------------------

/// P2: it waits for nothing that a later frame brings.
void page_cache::state::hurry(std::uint32_t page) {
    task_id reading;
    std::uint64_t frame = 0;
    {
        const locked l(lock);
        reading = pages[page].reading;
        frame = pages[page].needed_by;
        ++room_changes;
    }
    if (reading) io.set_priority(reading, priority_level::high, frame);
    wake(pages[page].waiting);
    wake(for_room);
}

void page_cache::state::hurry_all() {
    for (std::size_t i = 0;; ++i) {
        std::uint32_t page = page_slot::none;
        {
            const locked l(lock);
            if (i >= loading.size()) return;
            page = loading[i];
            if (pages[page].held == 0 || std::exchange(pages[page].hurried, true)) continue;
        }
        hurry(page);
    }
}

void page_cache::state::wake(detail::waiting_tasks& those) {
    // Those that wait now: one that goes on may come back.
    std::size_t left = SIZE_MAX;
    do {
        detail::waiting_task* w = nullptr;
        {
            const locked l(lock);
            left = std::min(left, those.size());
            w = left != 0 ? those.take() : nullptr;
        }
        if (w == nullptr) return;
        detail::go_on(*w);
    } while (--left != 0);
}

// ---- used --------------------------------------------------------------------------------------

page_handle page_cache::use(page_id id, std::uint64_t frame) {
    state& s = *state_;
    if (id.index >= s.pages.size() || s.pages.has_ended(frame)) return {};
    page_slot& p = s.pages[id.index];
    detail::page_usage u = s.pages.use(id.index, frame);
    if (!u.there && !s.in_child()) {
        const locked lock(s.lock);  // nobody looks under it whether it may leave
        u.there = p.stage.load(relaxed) == page_stage::resident;
    }
    if (!u.there) return {};
    if (u.first) s.hits.fetch_add(1, relaxed);  // a count
    if (p.ahead.load(relaxed) && !s.in_child()) {
        const locked lock(s.lock);
        s.note_that_wanted(p);
    }
    return {&p.view, frame};
}

void page_cache::state::wait_for(task_id load) {
    try {
        s.wait(load);
    } catch (const page_error&) {
        // `failures` has the reason for everybody who needs the page.
    }
}

/// At once, by the thread that needs it. What is resident stays, as the child's memory is its own.
void page_cache::state::load_in_child(std::uint32_t page) {
    page_slot& p = pages[page];
    const locked alone(in_child_lock);
    if (p.stage.load(relaxed) == page_stage::resident) return;
    // One that its parent was about to load has its memory already.
    if (p.data == nullptr) p.data = take_memory(p.bytes);
    pack.load(page_id{page}, {p.data, p.bytes});
    p.view = {page_id{page}, {p.data, p.bytes}};
    detail::let_page_enter(p.stage);
}

page_handle page_cache::need(page_id id, std::uint64_t frame) {
    page_handle h = use(id, frame);
    if (h) return h;
    state& s = *state_;
    if (s.pages.size() != s.pack.size()) throw std::bad_alloc{};  // for the pages' table
    if (id.index >= s.pages.size() || s.pages.has_ended(frame)) {
        s.misused("need() pages of this pack, in a frame that is not over");
        return {};
    }
    if (s.in_child()) {
        s.load_in_child(id.index);
        return use(id, frame);
    }
    const std::int64_t began = active_policy::now();
    while (!h) {
        const task_id load = want(id, frame);
        if (load) s.wait_for(load);
        h = use(id, frame);
        if (h) break;
        const locked lock(s.lock);
        if (const auto why = s.failures.find(id.index); why != s.failures.end()) {
            throw page_error(why->second);
        }
        if (!load) throw std::bad_alloc{};
    }
    const locked lock(s.lock);
    ++s.counts.late;
    s.counts.waited.value += active_policy::now() - began;
    return h;
}

std::span<const std::byte> page_cache::bytes(page_handle h) const {
    if (!h) return {};
    if (!state_->pages.has_ended(h.frame)) return h.object->bytes;
    state_->misused("the frame of this handle has ended, and its page may be gone: use() it anew");
    return {};
}

void page_cache::state::misused(const char* what) const {
    detail::report_frame_misused(s.internals(), "a page is used in its frame", options.name, what);
}

// ---- seen --------------------------------------------------------------------------------------

page_cache_statistics page_cache::statistics() const {
    if (state_->in_child()) return {};
    const locked lock(state_->lock);
    page_cache_statistics all = state_->counts;
    all.hits = state_->hits.load(relaxed);
    all.loading = static_cast<unsigned>(state_->loading.size());
    all.resident = state_->pages.resident();
    all.resident_bytes = state_->pages.held();
    all.p50 = state_->times.quantile(0.5);
    all.p99 = state_->times.quantile(0.99);
    return all;
}

bool page_cache::is_resident(page_id id) const {
    return id.index < state_->pages.size() &&
           state_->pages[id.index].stage.load(relaxed) == page_stage::resident;
}

BRAID_NAMESPACE_END
