#pragma once
// file_reader reads files while the program goes on: with priorities, a budget of bytes per frame,
// and no thread that waits.
//
//   braid::file pack("level.pack");
//   braid::file_reader io(scheduler, {.in_flight = 32, .bytes_per_frame = 8 << 20});
//   braid::co<> load(braid::file_reader& io, braid::file& pack, std::span<std::byte> to) {
//       const braid::read_result r = co_await io.read(pack, 0, to, {.name = "rock.lod1"});
//       …
//   }

#include "braid/async/await.hpp"
#include "braid/async/co.hpp"
#include "braid/async/file.hpp"
#include "braid/base/export.hpp"
#include "braid/core/scheduler.hpp"

#include <cstddef>
#include <cstdint>
#include <source_location>
#include <span>
#include <utility>

BRAID_NAMESPACE_BEGIN

class file_reader;

/// What brings the requests to the system. `uring` is io_uring, which needs no thread; `threads` is
/// background threads. For `automatic` see file_reader_options::back_end.
enum class file_back_end : std::uint8_t { automatic, uring, threads };

/// Faults that a seed injects, to show how a program copes with them. The same seed and order of
/// requests give the same faults. Shares are fractions of the requests to the system, 0 … 1.
struct file_faults {
    static constexpr nanoseconds most_delay = seconds(10);

    std::uint64_t seed = 0;
    double fails = 0;                     // share that fails with EIO, whatever was read
    double is_cut = 0;                    // share that reads less than was asked for
    double is_refused = 0;                // share that is refused for the moment, as by a full ring
    double is_late = 0;                   // share that is late by up to `delay`
    nanoseconds delay = milliseconds(1);  // 0 … most_delay
    bool reorders = false;  // requests that end at one moment are reported in any order

    bool any() const {
        return fails > 0 || is_cut > 0 || is_refused > 0 || is_late > 0 || reorders;
    }
};

struct file_reader_options {
    static constexpr int most_in_flight = 256;

    const char* name = "files";  // for messages; must outlive the reader
    /// The number of requests that the system has at once, 1 … most_in_flight. Neighbors that are
    /// read together are one request. `threads` has no more than two for each background thread,
    /// plus two that only urgent reads may use. `uring` gives reads of low priority no more than a
    /// quarter, and at least one, because a device makes urgent reads wait for what it has.
    int in_flight = 32;
    /// The number of bytes that reads may start from one begin_frame() to the next. 0 means no
    /// limit. A read that is larger than this is the only one of its frame, apart from urgent
    /// reads.
    std::size_t bytes_per_frame = 0;
    /// `automatic` uses io_uring if the library has it and the system allows it. If io_uring is not
    /// available, and under a chooser, `threads` replaces it, which is logged once.
    file_back_end back_end = file_back_end::automatic;
    file_faults faults = {};
    std::source_location where = std::source_location::current();
};

struct read_options {
    static constexpr std::uint64_t some_frame = UINT64_MAX;

    const char* name = "read";  // for messages and profiles; must outlive the read
    /// A `high` read is urgent. It starts even if the frame's budget is spent, which statistics
    /// count. `threads` reads it as work of frames, and another thread replaces the one that waits
    /// for the system.
    priority_level priority = priority_level::normal;
    /// The frame in which the read is needed, by the program's own count. Among reads of equal
    /// priority the one with the earliest frame is first.
    std::uint64_t frame = some_frame;
    /// The deadline counts from now. A read that is late fails with a completion_error, but not
    /// before the system has released the buffer.
    nanoseconds deadline = no_limit;
    std::source_location where = std::source_location::current();
};

struct read_result {
    std::size_t bytes = 0;
    bool at_end = false;  // fewer bytes than were asked for, because the file ended
};

/// Counts since the reader was made, and what the reader has at the moment.
struct file_reader_statistics {
    std::uint64_t asked = 0, read = 0, failed = 0, cancelled = 0;  // reads
    std::uint64_t bytes = 0;                                       // of reads that succeeded
    std::uint64_t requests = 0;   // to the system; fewer than reads if neighbors were merged
    std::uint64_t continued = 0;  // of these, for what an earlier one had left unread
    std::uint64_t overdrawn = 0;  // bytes that urgent reads have started beyond a frame's budget
    std::uint64_t frames = 0;     // calls of begin_frame()
    unsigned queued = 0, in_flight = 0;  // reads
    std::size_t buffer_bytes = 0;        // in use by read_then()
    std::size_t registered_bytes = 0;    // of buffers that the system knows
    nanoseconds p50{0}, p99{0};          // from asked to done, of reads that succeeded
    const char* back_end = "";
};

namespace detail {

class reader_state;

/// One read. It lies in the frame of the coroutine that awaits it, and stays there until the read
/// has ended.
struct file_request {
    enum class stage : std::uint8_t { made, refused, queued, flying, over };
    static constexpr std::uint32_t no_place = UINT32_MAX;

    reader_state* reader = nullptr;
    const file* of = nullptr;
    std::uint64_t offset = 0;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    read_options options = {};

    // The reader's lock guards these members from file_read::begin() on.
    completion_id id = {};
    task_id task = {};
    std::int64_t asked_at = 0;
    std::uint64_t number = 0;  // in the order of asking; decides between equal reads
    int known_as = -1;         // the buffer's number in the back end; see read_buffer
    file_request* next = nullptr;
    std::size_t done = 0;
    int error = 0;                   // the system's error number
    std::uint32_t place = no_place;  // in the queue
    stage at = stage::made;
    bool alone = false;     // must not be merged, because a merged request failed
    bool unwanted = false;  // ends as cancelled, or as late
    bool at_end = false;
};

/// Awaits one read.
class file_read : public awaiter {
public:
    explicit file_read(const file_request& r) : request_(r) {}
    file_read(file_read&& other) noexcept : awaiter(other), request_(other.request_) {}

    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> by) {
        co_loop& loop = enter(by);
        loop.suspend();
        if (!begin(*loop.context)) loop.refused = true;
    }
    read_result await_resume() {
        const await_result<read_result> r = result();
        co_loop::raise(r);
        return r.value.value_or(read_result{});
    }
    await_result<read_result> result() {
        const read_result got = end();
        await_result<read_result> r{take(), {}};
        if (r) r.value = got;
        return r;
    }

private:
    BRAID_API bool begin(task_context& context);
    BRAID_API read_result end();

    file_request request_;
};

/// Memory of a reader for one read_then(). If it makes reads cheaper to register the memory with
/// the system, as for direct reads, that is done once.
class read_buffer {
public:
    BRAID_API read_buffer(file_reader& io, const file& from, std::size_t bytes);
    read_buffer(const read_buffer&) = delete;
    read_buffer& operator=(const read_buffer&) = delete;
    BRAID_API ~read_buffer();
    /// Returns a span whose data is null if there was no memory.
    std::span<std::byte> bytes() const { return {data_, bytes_}; }
    int known_as() const { return known_as_; }

private:
    reader_state* of_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    int known_as_ = -1;
};

}  // namespace detail

/// Reads are started in this order: by priority, then by the frame in which they are needed, then
/// by offset. So neighbors can be merged into one request to the system, of at most `most_merged`
/// bytes. The system writes into the program's buffer; nothing is copied, and nothing is allocated.
///
/// Any thread may call. While no read is open, nothing runs. The destructor cancels queued reads,
/// waits until the reads in flight have ended and their tasks have gone on, and helps meanwhile.
/// The reader must be destroyed before its scheduler. In a child of fork() a read fails with EINVAL
/// and a sentence, and the destructor does nothing.
class file_reader {
public:
    static constexpr std::size_t most_merged = std::size_t{1} << 20;

    explicit file_reader(scheduler& s) : file_reader(s, file_reader_options{}) {}
    BRAID_API file_reader(scheduler& s, const file_reader_options& options);
    BRAID_API ~file_reader();
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    /// A coroutine must await the result at once. `to` must stay valid until the await has ended,
    /// even if the task is cancelled. Returns fewer bytes, with at_end, if the file ends. Throws a
    /// completion_error, whose code is the system's and whose what() says name, path, offset,
    /// length and the system's words. If the arguments are wrong, it throws a completion_error that
    /// says what is wrong, with code EINVAL. Cost: what a completion costs, and one call into the
    /// system.
    [[nodiscard]] auto read(const file& from, std::uint64_t offset, std::span<std::byte> to,
                            const read_options& options = {}) {
        return detail::file_read({.reader = state_,
                                  .of = &from,
                                  .offset = offset,
                                  .data = to.data(),
                                  .bytes = to.size(),
                                  .options = options});
    }

    /// Makes a task that reads into memory of the reader, and calls `f(std::span<const std::byte>)`
    /// with what was read. The memory is used again afterwards. The task fails as read() does.
    /// Returns an empty id if there is no memory, or the scheduler is shut down.
    template <class F>
    task_id read_then(const task_options& task, const file& from, std::uint64_t offset,
                      std::size_t bytes, F&& f, const read_options& options = {}) {
        return co_spawn(
                   scheduler_, task,
                   then(*this, from, offset, bytes, std::decay_t<F>(std::forward<F>(f)), options))
            .id();
    }

    /// Begins a frame: the frame's budget is full again. What was started beyond the last budget is
    /// not carried over.
    BRAID_API void begin_frame();

    /// Changes the order of the reads that task `of` awaits and that the system does not have yet.
    /// Returns how many reads it changed.
    BRAID_API unsigned set_priority(task_id of, priority_level level,
                                    std::uint64_t frame = read_options::some_frame);
    /// Cancels the reads that task `of` awaits. A queued read ends at once; a read in flight ends
    /// when the system has released the buffer. The task gets task_cancelled. Returns how many
    /// reads it cancelled.
    BRAID_API unsigned cancel(task_id of);

    BRAID_API file_reader_statistics statistics() const;

    /// For read_buffer.
    detail::reader_state* internals() { return state_; }

private:
    friend class detail::reader_state;  // calls end() if the scheduler ends first
    BRAID_API void end();

    template <class F>
    static co<> then(file_reader& io, const file& from, std::uint64_t offset, std::size_t bytes,
                     F f, read_options options) {
        const detail::read_buffer buffer(io, from, bytes);
        const read_result r = co_await detail::file_read({.reader = io.state_,
                                                          .of = &from,
                                                          .offset = offset,
                                                          .data = buffer.bytes().data(),
                                                          .bytes = bytes,
                                                          .options = options,
                                                          .known_as = buffer.known_as()});
        f(std::span<const std::byte>(buffer.bytes().data(), r.bytes));
    }
    scheduler& scheduler_;
    detail::reader_state* state_ = nullptr;  // null without memory, or after the scheduler's end
};

BRAID_NAMESPACE_END
