#pragma once
// What a page_cache is. A page's way, in order of the functions below:
//
//   want ─► load: make_room ─► read ─► packed ─► unpack ─► resident ─► evicted
//
// P1  A page is changed under the lock, and read, unpacked and freed by the one that has its stage
//     (loading: its task; unpacking: who has said so), without it.
// P2  What is urgent, needed by a frame that has begun, waits for nothing that only a later frame
//     brings: neither the reader's budget, nor a budget of unpack_some(), nor the room of a page
//     that is loaded for later, which is hurried then.
// P3  A task that ends, however it does, has made its page resident or absent.

#include "braid/base/time_histogram.hpp"
#include "braid/frame/command_buffer.hpp"  // what is exported of the core for frames
#include "braid/frame/spread_work.hpp"
#include "pages/residency.hpp"

#include <string>
#include <unordered_map>
#include <vector>

BRAID_NAMESPACE_BEGIN

struct page_cache::state {
    state(scheduler& s, file_reader& io, const page_pack& pack, const page_cache_options& o);

    // ---- page_cache.cpp: asked for ----------------------------------------------------------
    struct page_list {
        std::uint32_t pages[page_cache_options::most_read_ahead];
        unsigned count = 0;
    };
    task_id want(std::uint32_t page, std::uint64_t frame, page_list* next);
    /// Finds those that were wanted after it.
    void followers(std::uint32_t page, page_list& to);
    void note_that_wanted(detail::page_slot& p);
    void remember(std::uint32_t page, std::uint64_t frame);
    void hurry(std::uint32_t page);
    void hurry_all();
    bool is_urgent(const detail::page_slot& p) const {
        return p.hurried || p.needed_by <= pages.frame();
    }
    void wake(detail::waiting_tasks& those);
    [[noreturn]] void fail(std::uint32_t page, std::string why);
    void wait_for(task_id load);
    bool in_child() const { return detail::in_child_of_fork(s.internals()); }
    void load_in_child(std::uint32_t page);
    void misused(const char* what) const;

    // ---- page_load.cpp: it comes ------------------------------------------------------------
    static co<> load(state& of, std::uint32_t page, std::uint64_t frame);
    enum class claim : std::uint8_t { mine, there, of_another, of_another_too_late };
    claim begin_load(std::uint32_t page, std::uint64_t frame);
    enum class room : std::uint8_t { made, later, none };
    room make_room(std::uint32_t page);
    std::string too_little_room(std::uint32_t page, const detail::residency::demand& all) const;
    std::byte* take_memory(std::size_t bytes) const;
    void allocate(std::uint32_t page);
    /// What it takes until it is unpacked, beside itself.
    std::size_t packed_room(std::uint32_t page) const {
        const page_info info = pack[page_id{page}];
        return info.packed_bytes < info.bytes ? info.packed_bytes : 0;
    }
    read_options read_how(std::uint32_t page);
    void note_reading(std::uint32_t page, task_id task, bool is_high);
    struct attempts {
        unsigned failed = 0, damaged = 0;
    };
    bool was_read(std::uint32_t page, const await_result<read_result>& r, attempts& so_far);
    void put_in_line(std::uint32_t page);
    void unpack_by_budget(std::uint32_t page);
    /// True: by the caller.
    bool claim_unpacking(std::uint32_t page, bool by_budget);
    void unpack(std::uint32_t page);
    bool make_resident(std::uint32_t page);
    void give_up(std::uint32_t page);
    void free(std::uint32_t page);
    std::span<std::byte> stored(std::uint32_t page);

    scheduler& s;
    file_reader& io;
    const page_pack& pack;
    const page_cache_options options;
    detail::waiting_lock guard;
    detail::mutex& lock = guard.internals();
    detail::mutex in_child_lock;     // load_in_child(); nobody had it at the fork
    detail::waiting_tasks for_room;  // loads; hear of each change
    detail::residency pages;
    spread_work later;
    scope loads;

    atomic<std::uint64_t> hits{0};

    // Guarded by `lock`.
    page_cache_statistics counts;    // but for `hits`
    std::uint64_t room_changes = 0;  // times that a load may find room where there was none
    std::unordered_map<std::uint32_t, std::string> failures;  // of pages that could not be had
    std::vector<std::uint32_t> loading;
    std::uint32_t wanted_last = detail::page_slot::none;  // and in which frame
    std::uint64_t wanted_last_in = 0;
    time_histogram times;  // added to under the lock
};

BRAID_NAMESPACE_END
