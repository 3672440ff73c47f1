// Requests are read by background tasks, as many at once as there are requests and threads; urgent
// ones also by tasks of frames, since the system may leave a background thread without a processor
// for long. A request that no task can be made for is read by the thread that starts it.
#include "async/files/reader_state.hpp"

#include <algorithm>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// Requests that no thread reads yet.
class line_of_flights {
public:
    unsigned size() const { return size_; }
    void push(flight& f) { all_[(first_ + size_++) % file_reader_options::most_in_flight] = &f; }
    flight* pop() {
        if (size_ == 0) return nullptr;
        flight* const f = all_[first_];
        first_ = (first_ + 1) % file_reader_options::most_in_flight;
        --size_;
        return f;
    }

private:
    flight* all_[file_reader_options::most_in_flight];
    unsigned first_ = 0, size_ = 0;
};

class threads_back_end final : public file_back_end_base {
public:
    threads_back_end(runtime& rt, reader_state& of)
        : rt_(rt),
          of_(of),
          most_(static_cast<unsigned>(std::max(1, core::options(rt).background_threads))) {}
    void end(runtime& rt) override {
        this->~threads_back_end();
        core::memory(rt).release(this, sizeof *this, alignof(threads_back_end), memory_tag::file);
    }
    const char* name() const override { return "threads"; }
    /// One that each thread reads, and one that is next: the others wait in the reader's queue,
    /// where an urgent one overtakes them.
    unsigned most_flights() const override { return 2 * most_ + kept_for_urgent(); }
    unsigned kept_for_urgent() const override { return 2; }
    void start(std::span<flight* const> all) override;
    unsigned reap(std::span<flight*> to) override;
    unsigned hurry(task_id of) override;

private:
    struct pump {
        threads_back_end* of;
    };
    static void run(void* storage, task_context* context);
    static void run_urgent(void* storage, task_context* context);
    static void read(flight& f);
    bool post(task_class runs_as);
    void post_urgent(unsigned count);
    flight* take();
    flight* take_urgent();
    void pump_some(std::int64_t until);
    bool pass_on();
    void ended(flight& f) {
        const locked lock(lock_);
        ended_[ended_count_++] = &f;
    }

    /// A background thread is somebody else's, too: after that long the next task begins.
    static constexpr std::int64_t enough_ns = 2'000'000;

    runtime& rt_;
    reader_state& of_;
    const unsigned most_;
    mutex lock_;
    line_of_flights urgent_ BRAID_GUARDED_BY(lock_), waiting_ BRAID_GUARDED_BY(lock_);
    flight* ended_[file_reader_options::most_in_flight] BRAID_GUARDED_BY(lock_);
    unsigned ended_count_ BRAID_GUARDED_BY(lock_) = 0;
    unsigned pumps_ BRAID_GUARDED_BY(lock_) = 0;  // of the background
};

void threads_back_end::read(flight& f) {
    platform::file_piece pieces[platform::most_pieces];
    const unsigned count = f.pieces(pieces);
    f.got = platform::read_pieces(f.descriptor, pieces, count, f.offset);
}

void threads_back_end::start(std::span<flight* const> all) {
    unsigned wanted = 0, urgent = 0;
    {
        const locked lock(lock_);
        for (flight* const f : all) {
            const bool is_urgent = f->first->options.priority == priority_level::high;
            (is_urgent ? urgent_ : waiting_).push(*f);
            urgent += is_urgent;
        }
        wanted = std::min(urgent_.size() + waiting_.size(), most_ - std::min(most_, pumps_));
        pumps_ += wanted;
    }
    post_urgent(urgent);
    for (; wanted != 0; --wanted) {
        if (!post(task_class::background)) pump_some(INT64_MAX);
    }
}

/// Where none can be made a background thread reads them.
void threads_back_end::post_urgent(unsigned count) {
    while (count != 0 && post(task_class::frame)) --count;
}

unsigned threads_back_end::hurry(task_id of) {
    unsigned requests = 0, reads = 0;
    {
        const locked lock(lock_);
        for (unsigned left = waiting_.size(); left != 0; --left) {
            flight& f = *waiting_.pop();
            unsigned wanted = 0;
            for (const file_request* r = f.first; r != nullptr; r = r->next)
                wanted += r->task == of;
            (wanted != 0 ? urgent_ : waiting_).push(f);
            requests += wanted != 0;
            reads += wanted;
        }
    }
    post_urgent(requests);
    return reads;
}

unsigned threads_back_end::reap(std::span<flight*> to) {
    const locked lock(lock_);
    const unsigned count = std::exchange(ended_count_, 0);
    std::copy_n(ended_, count, to.begin());
    return count;
}

/// Another task that reads. It runs also where nothing is to run any more: what was started ends.
bool threads_back_end::post(task_class runs_as) {
    const bool in_background = runs_as == task_class::background;
    static constexpr task_environment no_scope{};
    const core::making_children making(rt_);
    const draft opened =
        open_task(rt_, nullptr,
                  {.name = "read files",
                   .priority = in_background ? priority_level::normal : priority_level::high,
                   .runs_as = runs_as,
                   .environment = &no_scope,
                   .may_be_long = true,
                   .where = {}},
                  draft_kind::spawned);
    if (opened.storage == nullptr) return false;
    of_.come_in();
    core::runs_always(opened);
    ::new (opened.storage) pump{this};
    publish_task(rt_, opened, in_background ? &run : &run_urgent);
    return true;
}

void threads_back_end::run(void* storage, task_context*) {
    threads_back_end& self = *std::launder(static_cast<pump*>(storage))->of;
    reader_state& of = self.of_;
    self.pump_some(core::sources(self.rt_).clock() + enough_ns);
    of.go_on();
    of.leave();
}

/// One request: there is a task for each.
void threads_back_end::run_urgent(void* storage, task_context*) {
    threads_back_end& self = *std::launder(static_cast<pump*>(storage))->of;
    reader_state& of = self.of_;
    if (flight* const f = self.take_urgent()) {
        of.while_blocked([f] { read(*f); });
        self.ended(*f);
        of.go_on();
    }
    of.leave();
}

flight* threads_back_end::take() {
    const locked lock(lock_);
    flight* f = urgent_.pop();
    if (f == nullptr) f = waiting_.pop();
    if (f == nullptr) --pumps_;
    return f;
}

flight* threads_back_end::take_urgent() {
    const locked lock(lock_);
    return urgent_.pop();
}

/// What waits; each is settled before the next is read.
void threads_back_end::pump_some(std::int64_t until) {
    while (flight* const f = take()) {
        read(*f);
        ended(*f);
        of_.go_on();
        if (until != INT64_MAX && core::sources(rt_).clock() >= until && pass_on()) return;
    }
}

/// True: another task goes on in place of this one.
bool threads_back_end::pass_on() {
    {
        const locked lock(lock_);
        if (urgent_.size() + waiting_.size() == 0) return false;
    }
    return post(task_class::background);
}

}  // namespace

file_back_end_base* make_threads_back_end(runtime& rt, reader_state& of) {
    void* const room = core::memory(rt).allocate(sizeof(threads_back_end),
                                                 alignof(threads_back_end), memory_tag::file);
    return room != nullptr ? ::new (room) threads_back_end(rt, of) : nullptr;
}

}  // namespace detail
BRAID_NAMESPACE_END
