#pragma once
// Pages of a pack that come while frames go on, and stay in bounded memory: what has not been used
// for longest gives way.
//
//   braid::page_pack pack("level.pack");
//   braid::file_reader io(scheduler, {.bytes_per_frame = 4 << 20});
//   braid::page_cache pages(scheduler, io, pack, {.resident_bytes = 16 << 20});
//
//   io.begin_frame();                          // once a frame
//   pages.begin_frame(frame);
//   pages.unpack_some();
//   pages.want(rock, frame + 4);               // when the game sees that it will come near
//   const auto bytes = pages.need(rock, frame);  // four frames later: there, or the frame waits

#include "braid/async/file_reader.hpp"
#include "braid/frame/frame_handle.hpp"
#include "braid/pages/page_pack.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN

/// A number outside its range counts as the nearest inside.
struct page_cache_options {
    static constexpr unsigned most_frames_in_flight = 8, most_retries = 16, most_read_ahead = 16;

    const char* name = "pages";  // for messages; outlives the cache
    /// That pages take, those that are being loaded included, with what they were packed in.
    std::size_t resident_bytes = std::size_t{16} << 20;
    /// What frame n has used stays until begin_frame(n + frames_in_flight). 1 …
    /// most_frames_in_flight; a frame_loop's slot_count().
    unsigned frames_in_flight = 1;
    /// How often a read that fails is made again; a page whose checksum is wrong is read once more
    /// at most. 0 … most_retries.
    unsigned retries = 3;
    /// Pages that are asked for with one that is not there, because they were wanted right after it
    /// in a frame before. 0 … most_read_ahead.
    unsigned read_ahead = 2;
    /// How long one unpack_some() may unpack; 0 and below: one page.
    nanoseconds unpack_budget = milliseconds(1);
};

/// Counts since the cache was made, and what it has at the moment.
struct page_cache_statistics {
    std::uint64_t hits = 0;    // pages used, once for each frame
    std::uint64_t late = 0;    // need() had to wait
    std::uint64_t loaded = 0;  // pages
    std::uint64_t bytes = 0;   // that were read for them
    std::uint64_t evicted = 0;
    std::uint64_t failed = 0;      // pages that could not be had
    std::uint64_t retried = 0;     // reads that failed or were damaged, and were made again
    std::uint64_t ahead_used = 0;  // asked for with another, and wanted later
    std::uint64_t wasted = 0;      // asked for with another, and evicted before that
    unsigned loading = 0, resident = 0;
    std::size_t resident_bytes = 0;  // as in the options
    nanoseconds p50{0}, p99{0};      // from the first want() until it is resident
    nanoseconds waited{0};           // by need(), all together
};

/// In memory, for one frame.
struct page {
    page_id id;
    std::span<const std::byte> bytes;
};
using page_handle = frame_handle<const page>;

/// Any thread may call all of it; frames are numbered from 1. A page takes one allocation from the
/// scheduler while it is loaded. use() of what is resident costs two atomic loads, and an exchange
/// when it is the first of a frame. Reader, pack and scheduler outlive it. The destructor
/// cancels what is being loaded, waits for that, and helps meanwhile. In a child of fork() need()
/// reads at once; want() and the destructor do nothing.
class page_cache {
public:
    page_cache(scheduler& s, file_reader& io, const page_pack& pack,
               const page_cache_options& options = {});
    ~page_cache();
    page_cache(const page_cache&) = delete;
    page_cache& operator=(const page_cache&) = delete;

    /// This frame begins, and the one that is `frames_in_flight` before it has ended.
    void begin_frame(std::uint64_t frame);
    /// Unpacks what has come and is not urgent, as long as the budget lasts (see spread_work). Once
    /// a frame, by one body of it. How many pages.
    std::size_t unpack_some();

    /// Says that `frame` will use the page: what is not resident is loaded, earliest frame first.
    /// The task that loads it, which fails with page_error; empty: it is resident, or there is no
    /// memory for a task.
    task_id want(page_id id, std::uint64_t frame);
    /// Empty: it is not resident. The handle keeps it until `frame` has ended.
    page_handle use(page_id id, std::uint64_t frame);
    /// Does what use() does; waits for a page that is not resident, helping, and loads it before
    /// all others.
    /// Throws page_error, naming page and file; also where `resident_bytes` do not suffice for what
    /// the frames in flight use. Without memory: std::bad_alloc; task_cancelled, where there was
    /// not even any to keep that.
    page_handle need(page_id id, std::uint64_t frame);
    /// What the handle stands for. Empty: its frame has ended, which is a misuse.
    std::span<const std::byte> bytes(page_handle h) const;

    page_cache_statistics statistics() const;
    /// Is it in memory at the moment? For pictures.
    bool is_resident(page_id id) const;

private:
    struct state;
    state* state_;
};

BRAID_NAMESPACE_END
