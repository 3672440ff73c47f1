#pragma once
// Files that are read while the program goes on: with priorities, a budget of bytes a frame, and no
// thread that waits.
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

/// Who asks the system. `uring`: io_uring, which needs no thread; `threads`: background threads.
enum class file_back_end : std::uint8_t { automatic, uring, threads };

/// What goes wrong by a seed, to see what a program does then: the same for the same seed and order
/// of requests. Shares are of the requests to the system, 0 … 1.
struct file_faults {
    static constexpr nanoseconds most_delay = seconds(10);

    std::uint64_t seed = 0;
    double fails = 0;                     // with EIO, whatever was read
    double is_cut = 0;                    // less is read than was asked for
    double is_refused = 0;                // for the moment, as by a ring that is full
    double is_late = 0;                   // by up to `delay`
    nanoseconds delay = milliseconds(1);  // 0 … most_delay
    bool reorders = false;                // what ends at one moment is heard of in any order

    bool any() const {
        return fails > 0 || is_cut > 0 || is_refused > 0 || is_late > 0 || reorders;
    }
};

struct file_reader_options {
    static constexpr int most_in_flight = 256;

    const char* name = "files";  // for messages; outlives the reader
    /// Requests that the system has at once, 1 … most_in_flight; of `threads` no more than two for
    /// each background thread, and two for urgent reads alone; of `uring` a quarter, and one at
    /// least, for reads of low priority, as a device makes urgent ones wait for what it has.
    /// Neighbours are one request.
    int in_flight = 32;
    /// That reads may start from one begin_frame() to the next; 0: no limit. A read of more than
    /// that is a frame's only one.
    std::size_t bytes_per_frame = 0;
    /// `automatic`: uring where the library has it and the system allows it. Where `uring` is not
    /// to be had, and under a chooser, `threads` stands in, which is logged once.
    file_back_end back_end = file_back_end::automatic;
    file_faults faults = {};
    std::source_location where = std::source_location::current();
};

struct read_options {
    static constexpr std::uint64_t some_frame = UINT64_MAX;

    const char* name = "read";  // for messages and profiles; outlives the read
    /// `high` is urgent: it starts although the frame's budget is spent, which statistics count,
    /// and `threads` reads it as work of frames, with another thread in place of the one that waits
    /// for the system.
    priority_level priority = priority_level::normal;
    /// In which it is needed, by the program's own count; of equal priority the earliest is first.
    std::uint64_t frame = some_frame;
    /// From now on; a read that is late fails with a completion_error, but not before the system
    /// has let go of the buffer.
    nanoseconds deadline = no_limit;
    std::source_location where = std::source_location::current();
};

struct read_result {
    std::size_t bytes = 0;
    bool at_end = false;  // fewer than were asked for, since the file ended there
};

/// Counts since the reader was made, and what it has at the moment.
struct file_reader_statistics {
    std::uint64_t asked = 0, read = 0, failed = 0, cancelled = 0;  // reads
    std::uint64_t bytes = 0;                                       // of those that went well
    std::uint64_t requests = 0;   // to the system; fewer than reads where neighbours were merged
    std::uint64_t continued = 0;  // of them: the system had read less than it was asked to, or none
    std::uint64_t overdrawn = 0;  // bytes that urgent reads have started beyond a frame's budget
    std::uint64_t frames = 0;     // begin_frame()
    unsigned queued = 0, in_flight = 0;  // reads
    std::size_t buffer_bytes = 0;        // of read_then(): in use
    std::size_t registered_bytes = 0;    // of its buffers: the system knows them
    nanoseconds p50{0}, p99{0};          // from asked to done, of those that went well
    const char* back_end = "";
};

namespace detail {

class reader_state;

/// One read. Lies in the frame of the coroutine that awaits it, and stays there until it has ended.
struct file_request {
    enum class stage : std::uint8_t { made, refused, queued, flying, over };
    static constexpr std::uint32_t no_place = UINT32_MAX;

    reader_state* reader = nullptr;
    const file* of = nullptr;
    std::uint64_t offset = 0;
    std::byte* data = nullptr;
    std::size_t bytes = 0;
    read_options options = {};

    // Guarded by the reader's lock from file_read::begin() on.
    completion_id id = {};
    task_id task = {};
    std::int64_t asked_at = 0;
    std::uint64_t number = 0;  // the first that was asked for is first
    int known_as = -1;         // the buffer, to the back end; see read_buffer
    file_request* next = nullptr;
    std::size_t done = 0;
    int error = 0;                   // the system's
    std::uint32_t place = no_place;  // in the queue
    stage at = stage::made;
    bool alone = false;     // not merged: one of its neighbours failed
    bool unwanted = false;  // ends as cancelled
    bool at_end = false;
};

/// Awaits it.
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

/// Memory of a reader for one read_then(). It is registered with the system once where that makes
/// reads cheaper, which it does for direct ones.
class read_buffer {
public:
    BRAID_API read_buffer(file_reader& io, const file& from, std::size_t bytes);
    read_buffer(const read_buffer&) = delete;
    read_buffer& operator=(const read_buffer&) = delete;
    BRAID_API ~read_buffer();
    /// Null where there was no memory.
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
/// by offset, so that neighbours are one request to the system of at most `most_merged` bytes. The
/// system writes into the program's buffer; nothing is copied, and nothing is allocated.
///
/// Any thread may call. Where nothing is asked for nothing runs. The destructor cancels what is
/// queued, waits until what is in flight has ended and its tasks have gone on, and helps meanwhile;
/// it must come before the scheduler's. In a child of fork() a read fails with EINVAL and a
/// sentence, and the destructor does nothing.
class file_reader {
public:
    static constexpr std::size_t most_merged = std::size_t{1} << 20;

    explicit file_reader(scheduler& s) : file_reader(s, file_reader_options{}) {}
    BRAID_API file_reader(scheduler& s, const file_reader_options& options);
    BRAID_API ~file_reader();
    file_reader(const file_reader&) = delete;
    file_reader& operator=(const file_reader&) = delete;

    /// To be awaited at once by a coroutine; `to` stays until then, also where the task is
    /// cancelled. Short where the file ends, with at_end. Throws a completion_error, whose code is
    /// the system's and whose what() says name, path, offset, length and the system's words; or one
    /// that says what is wrong with the arguments, with code EINVAL. Cost: what a completion costs,
    /// and one call into the system.
    [[nodiscard]] auto read(const file& from, std::uint64_t offset, std::span<std::byte> to,
                            const read_options& options = {}) {
        return detail::file_read({.reader = state_,
                                  .of = &from,
                                  .offset = offset,
                                  .data = to.data(),
                                  .bytes = to.size(),
                                  .options = options});
    }

    /// A task that reads into memory of the reader's, which is used again afterwards, and calls
    /// `f(std::span<const std::byte>)` with what was read. Fails as read() does. Empty: no memory.
    template <class F>
    task_id read_then(const task_options& task, const file& from, std::uint64_t offset,
                      std::size_t bytes, F&& f, const read_options& options = {}) {
        return co_spawn(
                   scheduler_, task,
                   then(*this, from, offset, bytes, std::decay_t<F>(std::forward<F>(f)), options))
            .id();
    }

    /// The frame's budget is full again; what was started beyond it is not carried over.
    BRAID_API void begin_frame();

    /// Changes the place of what this task awaits and the system has not got yet. How many reads.
    BRAID_API unsigned set_priority(task_id of, priority_level level,
                                    std::uint64_t frame = read_options::some_frame);
    /// What is queued ends at once, what is in flight when the system has let go: the task sees
    /// task_cancelled. How many.
    BRAID_API unsigned cancel(task_id of);

    BRAID_API file_reader_statistics statistics() const;

    /// For read_buffer.
    detail::reader_state* internals() { return state_; }

private:
    friend class detail::reader_state;  // ends it where its scheduler ends first
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
    detail::reader_state* state_ = nullptr;  // null: no memory, or the scheduler has ended
};

BRAID_NAMESPACE_END
