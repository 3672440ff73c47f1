#pragma once
// Many tasks can record commands at once, for rendering, sound or lighting. The playback order of
// the commands does not depend on the threads that recorded them, nor on the number of threads.
//
//   simulate.add([&](const braid::frame_context& f) {
//       auto out = commands.write(f.frame);
//       braid::parallel_for(f.task, models.size(), [&](braid::index_range r) {
//           auto list = out->record(r.begin);  // the ordinal of this piece, the same in every run
//           for (std::size_t i = r.begin; i != r.end; ++i) list.push(sort_key(i), {…});
//       });
//       out->sort(f.task);
//   });
//   render.add([&](const braid::frame_context& f) { commands.read(f.frame)->play(draw); });

#include "braid/core/scheduler.hpp"
#include "braid/core/spare_list.hpp"
#include "braid/fork_join/per_worker.hpp"
#include "braid/fork_join/sort.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

BRAID_API void* frame_allocate(runtime& rt, std::size_t bytes, std::size_t alignment);
BRAID_API void frame_release(runtime& rt, void* p, std::size_t bytes, std::size_t alignment);
BRAID_API void report_commands_full(runtime& rt, const char* name, std::size_t limit);
BRAID_API void log_frame_warning(runtime& rt, const char* what);
/// Returns true if this process is a child of fork() and the scheduler belongs to its parent.
BRAID_API bool in_child_of_fork(const runtime& rt);
/// Calls the assertion handler for a violation of `rule`, with the text "'NAME': WHAT".
BRAID_API void report_frame_misused(runtime& rt, const char* rule, const char* name,
                                    const char* what);

}  // namespace detail

struct command_buffer_options {
    const char* name = "commands";  // for messages; must outlive the buffer
    /// The maximum number of commands in one frame. 0 means that the scheduler's memory budget is
    /// the limit. A thread reserves space in chunks of 8 KB, or of 8 commands if a command is
    /// larger than about 1 KB. When a thread takes a chunk, the whole chunk counts against the
    /// limit, because other threads cannot use the rest of the chunk. The limit is therefore
    /// rounded up to whole chunks. The buffer refuses and counts commands beyond the limit, and
    /// logs one error per frame.
    std::size_t limit = 0;
};

/// A view of all sorted commands, or of a part of them. The view is valid until clear() of the
/// buffer is called.
template <class Command>
class command_list {
public:
    struct entry {
        std::uint64_t key;
        std::uint64_t place;  // recorder's ordinal << 32 | number of the command in the recorder
        const Command* command;
    };

    command_list(const entry* first, std::size_t size) : first_(first), size_(size) {}
    std::size_t size() const { return size_; }
    std::uint64_t key(std::size_t i) const { return first_[i].key; }
    const Command& operator[](std::size_t i) const { return *first_[i].command; }

private:
    const entry* first_;
    std::size_t size_;
};

/// A buffer for the commands of a frame. In each frame, the program clears the buffer, records
/// commands, sorts them and plays them. These four steps must run one after the other, in this
/// order, but recorders may run in parallel with each other. The buffer keeps its memory from frame
/// to frame.
template <class Command>
class command_buffer {
    static_assert(std::is_trivially_copyable_v<Command> && std::default_initializable<Command>,
                  "a command is plain data");
    using entry = typename command_list<Command>::entry;
    struct chunk;
    struct segment;

public:
    explicit command_buffer(scheduler& s, const command_buffer_options& options = {})
        : rt_(s.internals()), options_(options), segments_(s, sizeof(segment), alignof(segment)) {}
    ~command_buffer() {
        clear();
        while (chunk* c = spare_.load(relaxed)) {
            spare_.store(c->next.load(relaxed), relaxed);
            detail::frame_release(rt_, c, sizeof(chunk), alignof(chunk));
        }
        detail::frame_release(rt_, sorted_, capacity_ * sizeof(entry), alignof(entry));
    }
    command_buffer(const command_buffer&) = delete;
    command_buffer& operator=(const command_buffer&) = delete;

    /// Records the commands of one body. Only that body may use the recorder, on its own thread,
    /// while the body runs. Recording takes no lock, and uses atomic operations only once per chunk
    /// of 8 KB.
    class recorder {
    public:
        recorder(recorder&&) = delete;
        ~recorder() {
            if (to_ != nullptr) detail::scratch_store::give_back(to_);
        }
        /// Records a command. Commands play in the order of their keys. Commands with equal keys
        /// play in the order of their recorders' ordinals. Commands of one recorder with equal keys
        /// play in the order of the push() calls. push() returns false, and counts the command as
        /// refused, in these cases: the limit is reached, there is no memory, the recorder already
        /// has 2^32 - 1 commands, the thread is not in a task, or record() reported a misuse.
        bool push(std::uint64_t key, const Command& command) {
            if (to_ == nullptr || next_ == UINT32_MAX ||
                ((to_->last == nullptr || to_->last->used == chunk::capacity) && !of_.grow(*to_))) {
                // relaxed: the value is only a count.
                of_.refused_.fetch_add(1, relaxed);
                return false;
            }
            chunk& c = *to_->last;
            c.items[c.used++] = {key, std::uint64_t{ordinal_} << 32 | next_++, command};
            return true;
        }

    private:
        friend class command_buffer;
        recorder(command_buffer& of, segment* to, std::uint32_t ordinal)
            : of_(of), to_(to), ordinal_(ordinal) {}
        command_buffer& of_;
        segment* to_;
        std::uint32_t ordinal_, next_ = 0;
    };

    /// Makes a recorder for the calling body. Call record() in a task of the scheduler. Several
    /// threads may call record() at once. `ordinal` is the place of this body in the order of the
    /// frame's bodies. You choose the ordinal, for example the index of the body's first object or
    /// the number of its task. The ordinal must be the same in every run, be below 2^32, and differ
    /// from the ordinals of all other recorders of the frame.
    recorder record(std::size_t ordinal) {
        const bool ready = sorted_size_ == unsorted && ordinal <= UINT32_MAX;
        if (!ready) {
            report_misused(
                "clear() it before the next frame is recorded, with ordinals below 2^32");
        }
        void* const own = ready ? segments_.take(&make_segment) : nullptr;
        return recorder(*this, static_cast<segment*>(own), static_cast<std::uint32_t>(ordinal));
    }

    /// Sorts the commands in parallel, in O(n log n). Call sort() after all recorders of the frame
    /// are destroyed. If there is no memory, sort() returns false, and play() then plays nothing.
    /// If two recorders had the same ordinal, the order of some commands with equal keys may differ
    /// from run to run. sort() then calls the assertion handler and returns false, but play() still
    /// plays the commands.
    template <fork_place Place>
    bool sort(Place&& place) {
        std::size_t n = 0;
        each_chunk([&n](chunk& c) { n += c.used; });
        if (!reserve(n)) return false;
        entry* to = sorted_;
        each_chunk([&to](chunk& c) {
            for (std::size_t i = 0; i < c.used; ++i) {
                *to++ = {c.items[i].key, c.items[i].place, &c.items[i].command};
            }
        });
        braid::sort(place, sorted_, sorted_ + n, [](const entry& a, const entry& b) {
            return a.key != b.key ? a.key < b.key : a.place < b.place;
        });
        sorted_size_ = n;
        for (std::size_t i = 1; i < n; ++i) {
            if (sorted_[i].key != sorted_[i - 1].key || sorted_[i].place != sorted_[i - 1].place) {
                continue;
            }
            report_misused(
                "two recorders of a frame have the same ordinal: their commands of equal keys play "
                "in no certain order");
            return false;
        }
        return true;
    }

    /// Returns the sorted commands. If sort() has not succeeded since the last clear(), sorted()
    /// calls the assertion handler and returns an empty list.
    command_list<Command> sorted() const {
        if (sorted_size_ != unsorted) return {sorted_, sorted_size_};
        report_misused("sort() it before it is played");
        return {nullptr, 0};
    }
    /// Calls f(const Command&) for each command, one after the other, in sorted order.
    template <class F>
    void play(F&& f) const {
        const command_list<Command> all = sorted();
        for (std::size_t i = 0; i < all.size(); ++i) f(all[i]);
    }
    /// Splits the sorted commands into parts of `grain` commands and calls f(part, command_list)
    /// for each part, in parallel. For example, f can fill one command list of the graphics device.
    /// The parts depend only on the number of commands and on `grain`. `grain` may be any number,
    /// and 0 means 1.
    template <fork_place Place, class F>
    void play_parts(Place&& place, std::size_t grain, F&& f) const {
        const command_list<Command> all = sorted();
        const detail::even_pieces parts(all.size(), grain);
        parallel_for(place, parts.count(), [&](std::size_t part) {
            const index_range r = parts.range(part, part + 1);
            f(part, command_list<Command>(sorted_ + r.begin, r.size()));
        });
    }

    /// Removes all commands, so that the next frame can record. clear() neither allocates nor frees
    /// memory.
    void clear() {
        each_segment([this](segment& s) {
            while (chunk* c = s.first) {
                s.first = c->next.load(relaxed);
                c->used = 0;
                c->next.store(spare_.load(relaxed), relaxed);
                spare_.store(c, relaxed);
            }
            s.last = nullptr;
        });
        sorted_size_ = unsorted;
        taken_.store(0, relaxed);
        reported_.store(false, relaxed);
        refused_.store(0, relaxed);
    }

    /// Returns how many commands of this frame were refused. The number is exact while no thread
    /// records.
    std::uint64_t refused() const { return refused_.load(relaxed); }

private:
    struct item {
        std::uint64_t key, place;
        Command command;
    };
    struct chunk {
        static constexpr std::size_t capacity =
            sizeof(item) < 8192 / 8 ? (8192 - 2 * sizeof(void*)) / sizeof(item) : 8;
        atomic<chunk*> next{nullptr};
        std::size_t used = 0;
        item items[capacity];
    };
    /// The chunks that one recorder at a time fills. A thread has a second segment if a body with a
    /// recorder runs on top of another such body.
    struct segment {
        chunk* first = nullptr;
        chunk* last = nullptr;
    };
    static constexpr std::size_t unsorted = SIZE_MAX;

    void report_misused(const char* what) const {
        detail::report_frame_misused(rt_, "commands are recorded, sorted, played", options_.name,
                                     what);
    }
    static void make_segment(void* where) { ::new (where) segment(); }

    template <class F>
    void each_segment(F&& f) {
        segments_.visit(
            [](void* object, void* data) {
                (*static_cast<std::remove_reference_t<F>*>(data))(*static_cast<segment*>(object));
            },
            &f);
    }
    template <class F>
    void each_chunk(F&& f) {
        each_segment([&f](segment& s) {
            for (chunk* c = s.first; c != nullptr; c = c->next.load(relaxed)) f(*c);
        });
    }

    bool grow(segment& to) {
        // relaxed: the value is only a count, which is compared with the limit.
        const std::size_t taken = taken_.fetch_add(chunk::capacity, relaxed);
        const bool full = options_.limit != 0 && taken >= options_.limit;
        if (full && !reported_.exchange(true, relaxed)) {
            detail::report_commands_full(rt_, options_.name, options_.limit);
        }
        chunk* const c = full ? nullptr : take_chunk();
        if (c == nullptr) return false;
        if (to.last == nullptr) {
            to.first = c;
        } else {
            to.last->next.store(c, relaxed);
        }
        to.last = c;
        return true;
    }
    chunk* take_chunk() {
        if (chunk* const spare = detail::take_spare(spare_)) return spare;
        void* bytes = detail::frame_allocate(rt_, sizeof(chunk), alignof(chunk));
        return bytes != nullptr ? ::new (bytes) chunk : nullptr;
    }
    bool reserve(std::size_t n) {
        if (n <= capacity_) return true;
        const std::size_t wanted = (std::max)(n, 2 * capacity_);
        void* bytes = detail::frame_allocate(rt_, wanted * sizeof(entry), alignof(entry));
        if (bytes == nullptr) return false;
        detail::frame_release(rt_, sorted_, capacity_ * sizeof(entry), alignof(entry));
        sorted_ = static_cast<entry*>(bytes);
        capacity_ = wanted;
        return true;
    }

    detail::runtime& rt_;
    command_buffer_options options_;
    detail::scratch_store segments_;
    atomic<chunk*> spare_{nullptr};
    atomic<std::size_t> taken_{0};
    atomic<bool> reported_{false};
    atomic<std::uint64_t> refused_{0};
    entry* sorted_ = nullptr;
    std::size_t capacity_ = 0, sorted_size_ = unsorted;
};

BRAID_NAMESPACE_END
