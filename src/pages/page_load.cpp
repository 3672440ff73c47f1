// How a page comes: a coroutine for each.
#include "braid/async/co.hpp"
#include "pages/cache_state.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <system_error>
#include <utility>

BRAID_NAMESPACE_BEGIN

using detail::locked;
using detail::page_slot;
using detail::page_stage;

namespace {

/// Until `those` are woken; not at all where `has_happened` says so, which it is asked under the
/// lock.
template <class HasHappened>
class change_awaiter : public detail::plain_awaiter {
public:
    change_awaiter(detail::mutex& lock, detail::waiting_tasks& those, const char* name,
                   HasHappened has_happened)
        : lock_(lock), those_(those), name_(name), has_happened_(has_happened) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        detail::co_loop& loop = enter(by);
        loop.suspend();
        if (!those_.arm(own_, *loop.context, name_, std::source_location::current())) {
            loop.refused = true;
            return;
        }
        bool listed = false;
        {
            const locked l(lock_);
            listed = !has_happened_() && those_.list(own_);
        }
        if (!listed) detail::go_on(own_);
    }

private:
    detail::mutex& lock_;
    detail::waiting_tasks& those_;
    const char* name_;
    HasHappened has_happened_;
    detail::waiting_task own_;
};

/// A read that can be raised from the moment on that it is in the reader's queue.
template <class State>
class page_read : public detail::file_read {
public:
    page_read(State& of, std::uint32_t page, detail::file_read&& read, bool is_high)
        : file_read(std::move(read)), of_(of), page_(page), is_high_(is_high) {}
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        file_read::await_suspend(by);
        // The task does not go on before this has returned.
        of_.note_reading(page_, task_id{loop_->context->id()}, is_high_);
    }

private:
    State& of_;
    std::uint32_t page_;
    bool is_high_;
};

std::string words_of(const std::exception_ptr& error) {
    try {
        std::rethrow_exception(error);
    } catch (const completion_error& e) {
        // The reader's own refusals say why.
        return e.code() == EINVAL ? e.what() : std::generic_category().message(e.code());
    } catch (const std::exception& e) {
        return e.what();
    }
}

/// However the task ends (P3).
template <class State>
struct load_end {
    State& of;
    std::uint32_t page;
    ~load_end() { of.give_up(page); }
};

}  // namespace

co<> page_cache::state::load(state& of, std::uint32_t page, std::uint64_t frame) {
    page_slot& p = of.pages[page];
    const page_info info = of.pack[page_id{page}];
    const auto change = [&](detail::waiting_tasks& those, auto has_happened) {
        return change_awaiter(of.lock, those, info.name, has_happened);
    };
    while (true) {
        const claim c = of.begin_load(page, frame);
        if (c == claim::there) co_return;
        if (c == claim::mine) break;
        if (c == claim::of_another_too_late) of.hurry(page);
        co_await change(p.waiting, [&p] {
            const page_stage now = p.stage.load(relaxed);
            return now == page_stage::resident || now == page_stage::absent;
        });
    }
    const load_end<state> at_end{of, page};

    for (room r = of.make_room(page); r != room::made; r = of.make_room(page)) {
        if (r == room::none) co_return;
        co_await change(of.for_room, [&of, &p] { return of.room_changes != p.room_changes; });
    }
    of.allocate(page);
    attempts so_far;
    while (true) {
        const read_options how = of.read_how(page);
        const await_result<read_result> r = co_await as_result(page_read<state>(
            of, page, of.io.read(of.pack.source(), info.offset, of.stored(page), how),
            how.priority == priority_level::high));
        if (of.was_read(page, r, so_far)) break;
    }
    if (info.packed_bytes < info.bytes) of.put_in_line(page);
    while (!of.make_resident(page)) {
        if (of.claim_unpacking(page, false)) {
            of.unpack(page);
            continue;
        }
        co_await change(p.waiting, [&of, &p] {
            const page_stage now = p.stage.load(relaxed);
            return now == page_stage::unpacked || (now == page_stage::packed && of.is_urgent(p));
        });
    }
}

page_cache::state::claim page_cache::state::begin_load(std::uint32_t page, std::uint64_t frame) {
    page_slot& p = pages[page];
    const locked l(lock);
    const page_stage stage = p.stage.load(relaxed);
    if (stage == page_stage::resident) return claim::there;
    // Again: it may have been resident since want().
    const bool was_urgent = is_urgent(p);
    p.needed_by = std::min(p.needed_by, frame);
    if (stage != page_stage::absent) {
        return is_urgent(p) && !was_urgent ? claim::of_another_too_late : claim::of_another;
    }
    loading.push_back(page);
    p.hurried = p.damaged = p.abandoned = false;
    p.stage.store(page_stage::loading, relaxed);
    return claim::mine;
}

// ---- room --------------------------------------------------------------------------------------

/// None: asked for ahead, and not worth what would give way for it.
page_cache::state::room page_cache::state::make_room(std::uint32_t page) {
    page_slot& p = pages[page];
    const std::size_t bytes = p.bytes + packed_room(page);
    detail::residency::demand all{.bytes = bytes, .pages = 1};
    {
        const locked l(lock);
        const bool made = pages.reserve(page, bytes, p.needed_by, [this](auto gone) {
            counts.wasted += pages[gone].ahead.load(relaxed);
            ++counts.evicted;
            free(gone);
        });
        if (made) return room::made;
        if (p.ahead.load(relaxed)) {
            p.load = {};  // who wants it from now on gets a load of his own
            return room::none;
        }
        p.room_changes = room_changes;
        if (bytes <= options.resident_bytes) {
            if (!is_urgent(p)) return room::later;
            all = pages.needed_now(page);
            all.bytes += packed_room(page);
        }
    }
    if (all.bytes > options.resident_bytes) fail(page, too_little_room(page, all));
    hurry_all();
    return room::later;
}

std::string page_cache::state::too_little_room(std::uint32_t page,
                                               const detail::residency::demand& all) const {
    std::string why = "'";
    why += options.name;
    why += "' may keep " + std::to_string(options.resident_bytes);
    why += " bytes, but the frames in flight need " + std::to_string(all.bytes);
    why += " for " + std::to_string(all.pages) + (all.pages == 1 ? " page" : " pages");
    return pack.describe(page_id{page}, why + ": raise resident_bytes");
}

std::byte* page_cache::state::take_memory(std::size_t bytes) const {
    void* const taken = detail::frame_allocate(s.internals(), bytes, 64);
    if (taken == nullptr) throw std::bad_alloc{};
    return static_cast<std::byte*>(taken);
}

/// In the room that was made.
void page_cache::state::allocate(std::uint32_t page) {
    page_slot& p = pages[page];
    p.data = take_memory(p.bytes);
    if (const std::size_t packed = packed_room(page); packed != 0) p.stored = take_memory(packed);
    p.view = {page_id{page}, {p.data, p.bytes}};
}

void page_cache::state::free(std::uint32_t page) {
    page_slot& p = pages[page];
    std::byte* const data = std::exchange(p.data, nullptr);
    std::byte* const packed = std::exchange(p.stored, nullptr);
    if (data != nullptr) detail::frame_release(s.internals(), data, p.bytes, 64);
    if (packed != nullptr) detail::frame_release(s.internals(), packed, packed_room(page), 64);
    p.view = {};
    pages.release(page, p.held);
}

// ---- it is read --------------------------------------------------------------------------------

std::span<std::byte> page_cache::state::stored(std::uint32_t page) {
    const page_slot& p = pages[page];
    return {p.stored != nullptr ? p.stored : p.data, pack[page_id{page}].packed_bytes};
}

read_options page_cache::state::read_how(std::uint32_t page) {
    const page_slot& p = pages[page];
    const locked l(lock);
    const priority_level level = is_urgent(p)            ? priority_level::high
                                 : p.ahead.load(relaxed) ? priority_level::low
                                                         : priority_level::normal;
    return {.name = pack[page_id{page}].name, .priority = level, .frame = p.needed_by};
}

void page_cache::state::note_reading(std::uint32_t page, task_id task, bool is_high) {
    page_slot& p = pages[page];
    std::uint64_t frame = 0;
    {
        const locked l(lock);
        p.reading = task;
        if (is_high || !is_urgent(p)) return;
        frame = p.needed_by;
    }
    io.set_priority(task, priority_level::high, frame);
}

/// False: read it again.
bool page_cache::state::was_read(std::uint32_t page, const await_result<read_result>& r,
                                 attempts& so_far) {
    const std::size_t bytes = stored(page).size();
    const page_id id{page};
    const bool well = r && r.value->bytes == bytes && pack.verify(id, stored(page));
    {
        const locked l(lock);
        pages[page].reading = {};
        counts.bytes += well ? bytes : 0;
        if (well) return true;
    }
    if (r.no_memory) throw std::bad_alloc{};
    if (r.cancelled) throw task_cancelled{};
    if (r && r.value->bytes < bytes) fail(page, pack.describe(id, "the file ends before"));
    const bool again = r ? so_far.damaged++ == 0 : so_far.failed++ < options.retries;
    if (!again) fail(page, pack.describe(id, r ? "its checksum is wrong" : words_of(r.error)));
    const locked l(lock);
    ++counts.retried;
    return false;
}

void page_cache::state::fail(std::uint32_t page, std::string why) {
    bool is_news = false;
    {
        const locked l(lock);
        ++counts.failed;
        // Who wanted it may never need it, and hear of it by an exception.
        is_news = !std::exchange(pages[page].is_named, true);
        failures.insert_or_assign(page, why);
    }
    if (is_news) detail::log_frame_warning(s.internals(), why.c_str());
    throw page_error(why);
}

// ---- it is unpacked ----------------------------------------------------------------------------

/// A frame's budget will reach it, unless it becomes urgent before.
void page_cache::state::put_in_line(std::uint32_t page) {
    {
        const locked l(lock);
        pages[page].stage.store(page_stage::packed, relaxed);
        if (is_urgent(pages[page])) return;
    }
    const bool in_line = later.add({.name = pack[page_id{page}].name}, 1,
                                   [this, page](std::size_t) { unpack_by_budget(page); });
    if (in_line) return;
    const locked l(lock);
    pages[page].hurried = true;  // there is no memory to wait
}

void page_cache::state::unpack_by_budget(std::uint32_t page) {
    if (!claim_unpacking(page, true)) return;
    unpack(page);
    bool abandoned = false;
    {
        const locked l(lock);
        abandoned = pages[page].abandoned;
    }
    if (abandoned) give_up(page);
    wake(pages[page].waiting);
}

bool page_cache::state::claim_unpacking(std::uint32_t page, bool by_budget) {
    page_slot& p = pages[page];
    const locked l(lock);
    if (p.stage.load(relaxed) != page_stage::packed) return false;
    if (!by_budget && !is_urgent(p)) return false;
    p.stage.store(page_stage::unpacking, relaxed);
    return true;
}

void page_cache::state::unpack(std::uint32_t page) {
    page_slot& p = pages[page];
    const bool well = pack.unpack(page_id{page}, stored(page), {p.data, p.bytes});
    const locked l(lock);
    p.damaged = !well;
    p.stage.store(page_stage::unpacked, relaxed);
}

// ---- resident, or not ---------------------------------------------------------------------------

/// False: it is packed. Throws where it could not be unpacked.
bool page_cache::state::make_resident(std::uint32_t page) {
    page_slot& p = pages[page];
    bool damaged = false;
    {
        const locked l(lock);
        const page_stage stage = p.stage.load(relaxed);
        if (stage == page_stage::packed || stage == page_stage::unpacking) return false;
        damaged = p.damaged;
        if (!damaged) {
            if (p.stored != nullptr) {
                const std::size_t packed = packed_room(page);
                detail::frame_release(s.internals(), std::exchange(p.stored, nullptr), packed, 64);
                pages.release(page, packed);
            }
            p.needed_by = UINT64_MAX;
            pages.enter(page);
            ++counts.loaded;
            times.add(nanoseconds{active_policy::now() - p.asked_at});
        }
    }
    if (damaged) fail(page, pack.describe(page_id{page}, "it cannot be unpacked"));
    return true;
}

/// Nothing of a load is left, whether its page is resident or not.
void page_cache::state::give_up(std::uint32_t page) {
    page_slot& p = pages[page];
    {
        const locked l(lock);
        const page_stage stage = p.stage.load(relaxed);
        p.abandoned = stage == page_stage::unpacking;
        if (p.abandoned) return;  // the thread that unpacks it comes back here
        p.load = p.reading = {};
        ++p.loads_ended;
        std::erase(loading, page);
        ++room_changes;
        if (stage != page_stage::resident) {
            free(page);
            p.ahead.store(false, relaxed);
            p.stage.store(page_stage::absent, relaxed);
        }
    }
    wake(p.waiting);
    wake(for_room);
}

BRAID_NAMESPACE_END
