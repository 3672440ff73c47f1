#pragma once
// file_reader reads files while the program continues. Reads have priorities, and a frame has a
// budget of bytes. A coroutine that awaits a read does not hold a thread.
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

/// Selects how the reader passes requests to the operating system. `uring` uses io_uring, which
/// needs no threads. `threads` uses background threads. See file_reader_options::back_end for
/// `automatic`.
enum class file_back_end : std::uint8_t { automatic, uring, threads };

/// Faults that the reader injects, so that a test can show how a program handles them. The same
/// seed and the same order of requests cause the same faults. A share is a fraction of the requests
/// to the operating system, 0 … 1.
struct file_faults {
    static constexpr nanoseconds most_delay = seconds(10);

    std::uint64_t seed = 0;
    double fails = 0;                     // share that fails with EIO, even if data was read
    double is_cut = 0;                    // share that reads less than was asked for
    double is_refused = 0;                // share that is refused at first, as if a ring were full
    double is_late = 0;                   // share that ends up to `delay` late
    nanoseconds delay = milliseconds(1);  // 0 … most_delay
    bool reorders = false;  // requests that end at the same time are reported in random order

    bool any() const {
        return fails > 0 || is_cut > 0 || is_refused > 0 || is_late > 0 || reorders;
    }
};

struct file_reader_options {
    static constexpr int most_in_flight = 256;

    const char* name = "files";  // for messages; must outlive the reader
    /// The maximum number of requests that are in flight in the operating system at the same time,
    /// 1 … most_in_flight. Neighboring reads that were merged form one request. The back end
    /// `threads` accepts at most two requests for each background thread, and two more that only
    /// urgent reads may use. With the back end `uring`, at most a quarter of the requests, but at
    /// least one, may be reads of low priority. The reason is that a device makes an urgent read
    /// wait for the requests that the device already has.
    int in_flight = 32;
    /// The budget of a frame, in bytes. Each read that starts reduces the budget by the size of the
    /// read, and begin_frame() restores the full budget. A read starts only if the remaining budget
    /// is large enough. 0 means no limit. A read that is larger than the full budget starts only
    /// while the budget is still full, and uses up the whole budget. Urgent reads may start even if
    /// the budget is used up.
    std::size_t bytes_per_frame = 0;
    /// `automatic` uses io_uring if the library was built with it and the operating system allows
    /// it. If io_uring is not available, or if the scheduler has a chooser, the reader uses
    /// `threads`, even if `uring` was requested. Each reader logs this once.
    file_back_end back_end = file_back_end::automatic;
    file_faults faults = {};
    std::source_location where = std::source_location::current();
};

struct read_options {
    static constexpr std::uint64_t some_frame = UINT64_MAX;

    const char* name = "read";  // for messages and profiles; must outlive the read
    /// A read of priority `high` is urgent. An urgent read starts even if the frame's budget is
    /// used up. file_reader_statistics::overdrawn counts the bytes beyond the budget. With the back
    /// end `threads`, tasks of class `frame` carry out urgent requests as well. While the operating
    /// system makes such a task wait, another thread stands in for the thread of the task.
    priority_level priority = priority_level::normal;
    /// The number of the frame that needs the read. The program counts its frames. Among reads of
    /// equal priority, the read for the earliest frame starts first.
    std::uint64_t frame = some_frame;
    /// The time from the co_await to the deadline. A read that misses its deadline fails with a
    /// completion_error, but not before the operating system has released the buffer.
    nanoseconds deadline = no_limit;
    std::source_location where = std::source_location::current();
};

struct read_result {
    std::size_t bytes = 0;
    bool at_end = false;  // fewer bytes than were asked for, because the file ended
};

/// Counts since the reader was constructed, and the current state of the reader.
struct file_reader_statistics {
    std::uint64_t asked = 0, read = 0, failed = 0, cancelled = 0;  // reads
    std::uint64_t bytes = 0;                                       // of reads that succeeded
    std::uint64_t requests = 0;   // to the operating system; merged reads form one request
    std::uint64_t continued = 0;  // requests for bytes that an earlier request left unread
    std::uint64_t overdrawn = 0;  // bytes that urgent reads have started beyond a frame's budget
    std::uint64_t frames = 0;     // calls of begin_frame()
    unsigned queued = 0, in_flight = 0;  // reads
    std::size_t buffer_bytes = 0;        // in use by read_then()
    std::size_t registered_bytes = 0;    // of buffers registered with the operating system
    nanoseconds p50{0}, p99{0};          // from co_await to end, of reads that succeeded
    const char* back_end = "";
};

namespace detail {

class reader_state;

/// One read. The object is stored in the frame of the coroutine that awaits the read, and must not
/// move until the read has ended.
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
    std::uint64_t number = 0;  // order in which reads were requested; decides between equals
    int known_as = -1;         // the buffer's number in the back end; see read_buffer
    file_request* next = nullptr;
    std::size_t done = 0;
    int error = 0;                   // the operating system's error number
    std::uint32_t place = no_place;  // index in the queue
    stage at = stage::made;
    bool alone = false;     // must not be merged, because a merged request failed
    bool unwanted = false;  // will end as cancelled or as late
    bool at_end = false;
};

/// The awaiter of one read.
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

/// A buffer of the reader for one read_then(). If the back end can register buffers with the
/// operating system, a buffer for direct reads is registered once. This makes the reads cheaper.
class read_buffer {
public:
    BRAID_API read_buffer(file_reader& io, const file& from, std::size_t bytes);
    read_buffer(const read_buffer&) = delete;
    read_buffer& operator=(const read_buffer&) = delete;
    BRAID_API ~read_buffer();
    /// Returns the buffer. If there was no memory, the data pointer of the span is null.
    std::span<std::byte> bytes() const { return {data_, bytes_}; }
    int known_as() const { return known_as_; }

private:
    reader_state* of_ = nullptr;
    std::byte* data_ = nullptr;
    std::size_t bytes_ = 0;
    int known_as_ = -1;
};

}  // namespace detail

/// The reader starts reads in the order of their priority, then of the frame that needs them, then
/// of file and offset. With this order, neighboring reads can be merged into one request of at most
/// `most_merged` bytes to the operating system. The operating system writes into the program's
/// buffer, so the reader copies nothing. In steady state the reader allocates nothing.
///
/// Any thread may call the functions of a reader. While no read is open, no code of the reader
/// runs. The destructor cancels queued reads, then waits until the reads in flight have ended and
/// their tasks have resumed. The destructor runs other tasks during this wait. The reader must be
/// destroyed before its scheduler. In a child process made by fork(), each read fails with a
/// completion_error. Its code is EINVAL, and its what() states the reason. The destructor does
/// nothing there.
class file_reader {
public:
    static constexpr std::size_t most_merged = std::size_t{1} << 20;

    explicit file_reader(scheduler& s) : file_reader(s, file_reader_options{}) {}
    BRAID_API file_reader(scheduler& s, const file_reader_options& options);
    BRAID_API ~file_reader();
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    /// Reads `to.size()` bytes at `offset` of the file. A coroutine must await the returned object
    /// at once. `to` must stay valid until the await has ended, even if the task is cancelled. The
    /// co_await returns a read_result. If the file ends before `to` is full, the result has fewer
    /// bytes, and at_end is set. If the read fails, the co_await throws a completion_error. The
    /// code is the error number of the operating system, and what() contains the name, path,
    /// offset, length and the error message of the operating system. If an argument is invalid, the
    /// code is EINVAL, and what() says what is wrong. Cost: one completion and one system call.
    [[nodiscard]] auto read(const file& from, std::uint64_t offset, std::span<std::byte> to,
                            const read_options& options = {}) {
        return detail::file_read({.reader = state_,
                                  .of = &from,
                                  .offset = offset,
                                  .data = to.data(),
                                  .bytes = to.size(),
                                  .options = options});
    }

    /// Makes a task that reads into a buffer of the reader, and then calls `f(std::span<const
    /// std::byte>)` with the bytes that were read. The reader reuses the buffer after this call.
    /// The task fails with the exceptions that a co_await of read() throws. Returns an empty id if
    /// there is no memory, or the scheduler is shut down.
    template <class F>
    task_id read_then(const task_options& task, const file& from, std::uint64_t offset,
                      std::size_t bytes, F&& f, const read_options& options = {}) {
        return co_spawn(
                   scheduler_, task,
                   then(*this, from, offset, bytes, std::decay_t<F>(std::forward<F>(f)), options))
            .id();
    }

    /// Starts a new frame with a full budget. If urgent reads exceeded the budget of the previous
    /// frame, the excess is not subtracted from the new budget.
    BRAID_API void begin_frame();

    /// Changes the priority and the frame of those reads that task `of` awaits and that were not
    /// yet passed to the operating system. Returns the number of reads that changed.
    BRAID_API unsigned set_priority(task_id of, priority_level level,
                                    std::uint64_t frame = read_options::some_frame);
    /// Cancels the reads that task `of` awaits. A queued read ends at once. A read in flight ends
    /// when the operating system has released the buffer. The co_await in the task throws
    /// task_cancelled. Returns the number of reads that were cancelled.
    BRAID_API unsigned cancel(task_id of);

    BRAID_API file_reader_statistics statistics() const;

    /// read_buffer uses this function.
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
    detail::reader_state* state_ = nullptr;  // null without memory or after the scheduler's end
};

BRAID_NAMESPACE_END
