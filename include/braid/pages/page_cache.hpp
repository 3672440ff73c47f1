#pragma once
// A cache for the pages of a pack. The cache loads pages while frames run and limits their memory.
// The least recently used page is evicted first.
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

/// A value outside its range is clamped to the range.
struct page_cache_options {
    static constexpr unsigned most_frames_in_flight = 8, most_retries = 16, most_read_ahead = 16;

    const char* name = "pages";  // for messages; must outlive the cache
    /// The limit for the memory of all pages, including pages that are being loaded and their
    /// packed bytes.
    std::size_t resident_bytes = std::size_t{16} << 20;
    /// Pages that frame n has used stay in memory until begin_frame(n + frames_in_flight). The
    /// range is 1..most_frames_in_flight. With a frame_loop, set frames_in_flight to the loop's
    /// slot_count().
    unsigned frames_in_flight = 1;
    /// How many times a failed read is repeated, 0..most_retries. A page with a wrong checksum is
    /// read at most once more.
    unsigned retries = 3;
    /// How many more pages are loaded together with a missing page, 0..most_read_ahead. The cache
    /// chooses the pages that were wanted right after the missing page in an earlier frame.
    unsigned read_ahead = 2;
    /// How long one call of unpack_some() may unpack pages. A value of 0 or less means one page for
    /// each call.
    nanoseconds unpack_budget = milliseconds(1);
};

/// The counts since the construction of the cache, and its current state.
struct page_cache_statistics {
    std::uint64_t hits = 0;    // used pages; each page is counted once for each frame
    std::uint64_t late = 0;    // calls of need() that had to wait
    std::uint64_t loaded = 0;  // pages that became resident
    std::uint64_t bytes = 0;   // bytes read for pages, without failed reads
    std::uint64_t evicted = 0;
    std::uint64_t failed = 0;      // loads that failed with page_error
    std::uint64_t retried = 0;     // reads tried again after a failure or a wrong checksum
    std::uint64_t ahead_used = 0;  // pages loaded ahead and later wanted
    std::uint64_t wasted = 0;      // pages loaded ahead and evicted before they were wanted
    unsigned loading = 0, resident = 0;
    std::size_t resident_bytes = 0;  // see page_cache_options::resident_bytes
    nanoseconds p50{0}, p99{0};      // load time, from the first want() until the page is resident
    nanoseconds waited{0};           // total waiting time of all need() calls
};

/// A page in memory. A page is valid for one frame.
struct page {
    page_id id;
    std::span<const std::byte> bytes;
};
using page_handle = frame_handle<const page>;

/// Any thread may call all functions. Frames are numbered from 1.
///
/// A load needs a task, and allocates memory for the page from the scheduler's memory. If the page
/// is packed, the load allocates memory for the packed bytes, too, and frees it when they are
/// unpacked. use() of a resident page costs four atomic loads. The first use in a frame
/// additionally costs a compare-exchange and an increment. The first use of a page that was loaded
/// ahead takes a lock.
///
/// The reader, the pack and the scheduler must outlive the cache. The destructor cancels all loads
/// and waits for them. The waiting thread helps. In a child of fork(), need() reads a missing page
/// on the calling thread, and want() and the destructor do nothing.
class page_cache {
public:
    page_cache(scheduler& s, file_reader& io, const page_pack& pack,
               const page_cache_options& options = {});
    ~page_cache();
    page_cache(const page_cache&) = delete;
    page_cache& operator=(const page_cache&) = delete;

    /// Begins frame `frame`. From then on, frame `frame - frames_in_flight` is treated as ended, so
    /// that its pages may be evicted.
    void begin_frame(std::uint64_t frame);
    /// Unpacks pages that were read and are not urgent, until the budget is used up (see
    /// spread_work). Call unpack_some() once in each frame, from one task body. Returns the number
    /// of pages that the call processed.
    std::size_t unpack_some();

    /// Announces that `frame` will use the page. If the page is not resident, want() starts to load
    /// it. Pages for earlier frames are loaded first. Returns the task that loads the page. The
    /// task fails with page_error if the page cannot be loaded. Returns an empty id if the page is
    /// resident, or if there is no memory for a task.
    task_id want(page_id id, std::uint64_t frame);
    /// Returns a handle that keeps the page in memory until `frame` has ended. Returns an empty
    /// handle if the page is not resident, or if `frame` has ended already.
    page_handle use(page_id id, std::uint64_t frame);
    /// Like use(), but if the page is not resident, need() loads it before all other pages and
    /// waits for it. The waiting thread helps. If `frame` has ended already, need() calls the
    /// assertion handler and returns an empty handle. Throws page_error if the page cannot be
    /// loaded, or if `resident_bytes` is too small for the pages that the frames in flight use. The
    /// error message contains the name of the page and of the file. Throws std::bad_alloc if there
    /// is no memory, or task_cancelled if there is not even memory to store a std::bad_alloc.
    page_handle need(page_id id, std::uint64_t frame);
    /// Returns the bytes of the page. If the frame of the handle has ended, bytes() calls the
    /// assertion handler and returns an empty span.
    std::span<const std::byte> bytes(page_handle h) const;

    page_cache_statistics statistics() const;
    /// Returns true if the page is in memory at the moment. The function is meant for visualizing
    /// the cache.
    bool is_resident(page_id id) const;

private:
    struct state;
    state* state_;
};

BRAID_NAMESPACE_END
