#pragma once
// A cache for the pages of a pack. It loads pages while frames go on and keeps them in bounded
// memory. The least recently used page is evicted first.
//
//   braid::page_pack pack("level.pack");
//   braid::file_reader io(scheduler, {.bytes_per_frame = 4 << 20});
//   braid::page_cache pages(scheduler, io, pack, {.resident_bytes = 16 << 20});
//
//   io.begin_frame();                          // once a frame
//   pages.begin_frame(frame);
//   pages.unpack_some();
//   pages.want(rock, frame + 4);               // the game will need it soon
//   const auto bytes = pages.need(rock, frame);  // four frames later, waits if it is late

#include "braid/async/file_reader.hpp"
#include "braid/frame/frame_handle.hpp"
#include "braid/pages/page_pack.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN

/// A value outside its range is clamped to the nearest one inside.
struct page_cache_options {
    static constexpr unsigned most_frames_in_flight = 8, most_retries = 16, most_read_ahead = 16;

    const char* name = "pages";  // for messages; outlives the cache
    /// The limit for the memory of all pages. Pages that are being loaded count, together with
    /// their packed bytes.
    std::size_t resident_bytes = std::size_t{16} << 20;
    /// What frame n has used stays until begin_frame(n + frames_in_flight). The range is
    /// 1..most_frames_in_flight. With a frame_loop, set this to its slot_count().
    unsigned frames_in_flight = 1;
    /// How many times a read that fails is tried again, 0..most_retries. A page whose checksum is
    /// wrong is read at most once more.
    unsigned retries = 3;
    /// How many more pages are loaded together with a missing page, 0..most_read_ahead. These are
    /// the pages that were wanted right after it in an earlier frame.
    unsigned read_ahead = 2;
    /// How long one call of unpack_some() may unpack. 0 or less means one page.
    nanoseconds unpack_budget = milliseconds(1);
};

/// Counts since the cache was made, and its present state.
struct page_cache_statistics {
    std::uint64_t hits = 0;    // pages used, counted once for each frame
    std::uint64_t late = 0;    // calls of need() that had to wait
    std::uint64_t loaded = 0;  // pages that became resident
    std::uint64_t bytes = 0;   // read for pages, without failed reads
    std::uint64_t evicted = 0;
    std::uint64_t failed = 0;      // loads that failed with page_error
    std::uint64_t retried = 0;     // reads tried again after a failure or a wrong checksum
    std::uint64_t ahead_used = 0;  // pages loaded ahead and wanted later
    std::uint64_t wasted = 0;      // pages loaded ahead and evicted before they were wanted
    unsigned loading = 0, resident = 0;
    std::size_t resident_bytes = 0;  // see page_cache_options
    nanoseconds p50{0}, p99{0};      // from the first want() of a page until it is resident
    nanoseconds waited{0};           // by all calls of need() together
};

/// A page in memory. It is valid for one frame.
struct page {
    page_id id;
    std::span<const std::byte> bytes;
};
using page_handle = frame_handle<const page>;

/// Any thread may call all functions. Frames are numbered from 1. A load takes, besides its
/// task, one allocation from the scheduler's memory for the page, and another one for packed bytes
/// until they are unpacked. use() of a resident page costs four atomic loads. The first use in a
/// frame costs an exchange and an increment in addition. The first use of a page that came by
/// read-ahead takes a lock. The reader, the pack and the scheduler outlive the cache. The
/// destructor cancels what is being loaded, waits for that and helps meanwhile. In a child of
/// fork(), need() reads at once, and want() and the destructor do nothing.
class page_cache {
public:
    page_cache(scheduler& s, file_reader& io, const page_pack& pack,
               const page_cache_options& options = {});
    ~page_cache();
    page_cache(const page_cache&) = delete;
    page_cache& operator=(const page_cache&) = delete;

    /// Begins this frame. The frame that is `frames_in_flight` before it has ended then.
    void begin_frame(std::uint64_t frame);
    /// Unpacks pages that were read and are not urgent, for as long as the budget lasts (see
    /// spread_work). One body of each frame calls it, once. Returns how many pages it has
    /// processed.
    std::size_t unpack_some();

    /// Says that `frame` will use the page. A page that is not resident is loaded, earliest frame
    /// first. Returns the task that loads it, which fails with page_error. Returns an empty id if
    /// the page is resident, or if there is no memory for a task.
    task_id want(page_id id, std::uint64_t frame);
    /// Returns a handle that keeps the page in memory until `frame` has ended. Returns an empty
    /// handle if the page is not resident.
    page_handle use(page_id id, std::uint64_t frame);
    /// Like use(), but loads a page that is not resident before all others, waits for it and helps
    /// meanwhile. Throws page_error, which names the page and the file, if the page cannot be
    /// loaded. This includes the case that `resident_bytes` is too small for what the frames in
    /// flight use. Throws std::bad_alloc without memory, or task_cancelled if there was not even
    /// memory to keep that exception.
    page_handle need(page_id id, std::uint64_t frame);
    /// Returns the bytes of the page. Returns an empty span if the frame of the handle has ended,
    /// which is a misuse.
    std::span<const std::byte> bytes(page_handle h) const;

    page_cache_statistics statistics() const;
    /// Returns true if the page is in memory at the moment. This is for pictures of the cache.
    bool is_resident(page_id id) const;

private:
    struct state;
    state* state_;
};

BRAID_NAMESPACE_END
