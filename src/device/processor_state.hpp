#pragma once
// What every processor is: who waits, what is in flight, how each submission ends. A submission's
// way, in order of the functions below: admit ─► queued ─► next_action, start ─► ended ─► settle.
//
// D1  A submission's ending is decided once, under the lock (`record::how`), and its
//     completion is settled once, without it; after a time-out by the core, whose timer has asked.
// D2  A record, its operands and its buffers stay until the processor has let go (stage::over), and
//     the record until the task is complete, so that a ticket of it says how it ended.
// D3  One thread at a time starts, so that the order of the queue is the order on the processor.
// D4  Nothing of the program or of the core runs with the lock, but for the memory hooks and for
//     arming the alarm.
// D5  A thread comes in under the lock before it may end what the destructor waits for, and has
//     left when go_on() has found nothing more to do; so have groups on the cores, from before they
//     are spawned on. The destructor waits for them, and not for tasks.

#include "base/printf_format.hpp"
#include "braid/base/mutex.hpp"
#include "braid/base/time_histogram.hpp"
#include "braid/core/code_holders.hpp"
#include "braid/device/processor.hpp"
#include "braid/device/sequence.hpp"
#include "core/extension.hpp"
#include "device/back_end.hpp"
#include "device/buffer_pool.hpp"

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace core = braid::detail::core;
using braid::detail::locked;

struct given;

class processor_state final : public code_holder, public core::outside_source {
public:
    processor_state(scheduler& s, processor& owner, const processor_options& o, back_end& how);
    /// After come_to_rest().
    ~processor_state() override;

    // ---- a submission begins (submit.cpp)
    ticket submit(task_context& task, const submission& what);
    ticket submit(task_context& task, sequence_state& all, const sequence_order& order);
    bool has_ended(const ticket& t) const;
    /// One of another processor has ended that it comes after.
    void go_on_after(record& r, bool went_well);

    // ---- in a child of fork() (in_child.cpp)
    bool in_child() const { return core::in_child(rt_); }

    // ---- it runs (schedule.cpp)
    /// Starts what can start and settles what has ended, until there is neither. Without the lock,
    /// by a thread that came in; it has left afterwards (D5).
    void go_on();
    /// On the cores, in place of the processor or as the processor does it.
    void run_on_cores(record& r);
    using attempt = detail::attempt;
    /// The processor has let go of it. Any thread, without the lock.
    void ended(record& r, attempt how);
    /// Several have ended at once, so that what starts in their place starts together.
    void ended(std::span<record* const> all, attempt how);
    /// There was no memory for one that start() has taken. By the thread that starts.
    void refused(record& r);
    /// A group has thrown; the first one counts.
    void note_failure(record& r, std::exception_ptr error);
    void ended_on_cores(record& r);

    // ---- it fails (loss.cpp)
    /// With all that is in flight there.
    void lose();
    /// Arms the alarm for what is awaited now; see back_end::next_due(). Without the lock.
    void look_again();
    bool revive();
    void arrived(braid::detail::runtime& rt, braid::detail::whole_seat& w,
                 const core::arrival& what) override;
    std::int64_t now() const { return core::sources(rt_).clock(); }

    // ---- sequences (sequence.cpp)
    sequence_state* make_sequence(sequence& owner, const char* name);
    bool reserve(sequence_state& s, std::size_t steps);
    bool add(sequence_state& s, const given& what);
    bool clear(sequence_state& s);
    void release(sequence_state& s);

    // ---- buffers
    device::buffer make_buffer(const buffer_options& options);
    device::buffer import_buffer(const import_options& options);
    std::span<std::byte> map(device::buffer b);
    bool release(device::buffer b);

    // ---- the rest
    processor_report report() const;
    bool runs_code() const override { return how_.runs_code(); }
    void show_code(code_search& to) const override;
    static processor_state* of_processor(const processor& p) { return p.state_; }
    /// Nothing is in flight any more, whether tasks are complete or not. False, and reported: the
    /// caller is one of those that wait for it.
    bool come_to_rest();
    void abandon() override;
    static void destroy(processor_state* s);
    /// The owner goes, and this stays.
    void lose_owner() { owner_ = nullptr; }

    /// Back ends guard their own by it.
    braid::detail::mutex& lock() const { return lock_; }

private:
    enum class way : std::uint8_t { processor, cores, none };
    struct action {
        enum : std::uint8_t { nothing, settle, start, flush } what = nothing;
        record* of = nullptr;
        way on = way::none;
        bool more = false;  // to be settled
    };
    /// A step, or a sequence.
    struct request {
        const char* name;
        const given* one = nullptr;
        sequence_state* many = nullptr;
        const sequence_order& order;
    };
    struct list {
        record *first = nullptr, *last = nullptr;
        void push_back(record& r);
        void push_front(record& r);
        void remove(record& r);
    };

    /// With the lock. In a child of fork() without: a thread of the parent's may have it for ever,
    /// and nobody changes there what it guards.
    class BRAID_LOCK_RULE(scoped_lockable) looking {
    public:
        explicit looking(const processor_state& of) BRAID_LOCK_RULE(acquire_capability(of.lock_))
            BRAID_LOCK_RULE(no_thread_safety_analysis)
            : lock_(of.in_child() ? nullptr : &of.lock_) {
            if (lock_ != nullptr) lock_->lock();
        }
        ~looking() BRAID_LOCK_RULE(release_capability())
            BRAID_LOCK_RULE(no_thread_safety_analysis) {
            if (lock_ != nullptr) lock_->unlock();
        }
        looking(const looking&) = delete;
        looking& operator=(const looking&) = delete;

    private:
        braid::detail::mutex* const lock_;
    };

    /// Says why a submission was refused. Empty: there was no memory.
    struct refusal {
        char sentence[352] = {};
    };

    // submit.cpp
    bool is_good(const given& what) const;
    ticket submit(task_context& task, const request& what);
    bool are_inside(const given& what, refusal& why) const BRAID_REQUIRES(lock_);
    bool is_inside(const operand& o, refusal& why) const BRAID_REQUIRES(lock_);
    record* take_record() BRAID_REQUIRES(lock_);
    record* admit(const task_context& task, const request& what, refusal& why);
    void fill(record& r, const request& what) BRAID_REQUIRES(lock_);
    void fill(step& s, const given& what) const BRAID_REQUIRES(lock_);
    static std::span<buffer_use> uses_of(record& r);
    void follow(record& r, const request& what) BRAID_REQUIRES(lock_);
    const record* unordered(record& r) BRAID_REQUIRES(lock_);
    bool comes_after(record& r, const record& other) BRAID_REQUIRES(lock_);
    void join_those_of_task(record& r) BRAID_REQUIRES(lock_);
    unsigned follow_others(record& r, const request& what, std::span<task_id> by);
    static ticket no_memory(task_context& task, const request& what);
    static bool ask(void* data, completion_id id);
    bool end_early(record& r) BRAID_REQUIRES(lock_);

    // in_child.cpp
    ticket submit_in_child(task_context& task, const request& what);
    bool find_in_child(step& s, refusal& why) const;
    bool has_in_child(const step& s) const BRAID_REQUIRES(lock_);

    // schedule.cpp
    /// Does that first: the caller has looked with the lock that it had anyway.
    void go_on(action next);
    void come_in() BRAID_REQUIRES(lock_) { ++inside_; }
    list& queue_of(const record& r) BRAID_REQUIRES(lock_);
    void drop_wait(record& r) BRAID_REQUIRES(lock_);
    /// By a thread that came in. Nothing: it has left.
    action next_action() BRAID_REQUIRES(lock_);
    action next_start() BRAID_REQUIRES(lock_);
    bool wakes_cores(record& r) BRAID_REQUIRES(lock_);
    bool fits(const record& r) const BRAID_REQUIRES(lock_);
    void enter_flight(record& r) BRAID_REQUIRES(lock_);
    void leave_flight(record& r) BRAID_REQUIRES(lock_);
    void start(record& r, way w);
    action stop_starting();
    way choose_way(record& r) BRAID_REQUIRES(lock_);
    bool find_operands(step& s) const BRAID_REQUIRES(lock_);
    bool take_back(record& r);
    void put_back(record& r) BRAID_REQUIRES(lock_);
    attempt judge(record& r, bool whole) BRAID_REQUIRES(lock_);
    void report_run(record& r, attempt how) const;
    void end_attempt(record& r, attempt how) BRAID_REQUIRES(lock_);
    bool may_run_twice(const record& r) const BRAID_REQUIRES(lock_);
    void finish(record& r, ending how) BRAID_REQUIRES(lock_);
    void note_ending(record& r) BRAID_REQUIRES(lock_);
    void release_successors(record& r) BRAID_REQUIRES(lock_);
    void forget_order(record& r) BRAID_REQUIRES(lock_);
    void drop_made(record& r) BRAID_REQUIRES(lock_);
    BRAID_PRINTF(4, 5)
    void doom(record& r, int code, const char* format, ...) BRAID_REQUIRES(lock_);
    void doom_after(record& r, const record& failed) BRAID_REQUIRES(lock_);
    void settle_later(record& r) BRAID_REQUIRES(lock_);
    record* take_unsettled() BRAID_REQUIRES(lock_);
    record* take_well_ended();
    void settle_all(record& first, bool more);
    void settle(record& r, core::seat& w);

    // sequence.cpp
    bool may_change(const sequence_state& s) const;
    void end_use(sequence_state& s) BRAID_REQUIRES(lock_);
    void free_sequence(sequence_state& s) BRAID_REQUIRES(lock_);

    // processor_state.cpp
    bool may_make_buffers() const;
    bool is_at_rest(const record& r) const BRAID_REQUIRES(lock_);
    bool is_at_rest(task_id& needed) const;
    bool wait_for_rest();
    void say_what_is_waited_for() const;

    // loss.cpp
    bool note_loss(std::int64_t at) BRAID_REQUIRES(lock_);
    void end_with_loss(bool died);
    std::int64_t next_alarm() const BRAID_REQUIRES(lock_);
    bool set_alarm() BRAID_REQUIRES(lock_);
    void go_on_without_time();

    braid::detail::runtime& rt_;
    scheduler& scheduler_;
    processor* owner_;  // null: destroyed, though something was in flight
    back_end& how_;
    const processor_options options_;
    const std::uint32_t id_;

    mutable braid::detail::mutex lock_;
    buffer_pool buffers_ BRAID_GUARDED_BY(lock_);
    braid::detail::accounted_array<record*, memory_tag::device> records_ BRAID_GUARDED_BY(lock_);
    sequence_state* sequences_ BRAID_GUARDED_BY(lock_) = nullptr;
    list over_ BRAID_GUARDED_BY(lock_);  // oldest first, but for those whose tasks last
    list queued_[3] BRAID_GUARDED_BY(lock_);
    record *unsettled_first_ BRAID_GUARDED_BY(lock_) = nullptr,
                             *unsettled_last_ BRAID_GUARDED_BY(lock_) = nullptr;
    std::uint64_t numbers_ BRAID_GUARDED_BY(lock_) = 0, walks_ BRAID_GUARDED_BY(lock_) = 0;
    record* newest_by_task_[64] BRAID_GUARDED_BY(lock_) = {};  // at a number of the task's
    record* just_ended_ BRAID_GUARDED_BY(lock_) = nullptr;
    bool releasing_ BRAID_GUARDED_BY(lock_) = false;
    std::size_t bytes_in_flight_ BRAID_GUARDED_BY(lock_) = 0;
    std::size_t inside_ BRAID_GUARDED_BY(lock_) = 0;  // D5
    bool starting_ BRAID_GUARDED_BY(lock_) = false;
    bool starved_ BRAID_GUARDED_BY(lock_) = false;  // no memory until something has ended
    bool closing_ BRAID_GUARDED_BY(lock_) = false;
    bool was_busy_ BRAID_GUARDED_BY(lock_) = false;  // the back end, for set_alarm()
    // While it is busy: the later of when it became so and when something ended.
    std::int64_t progress_ BRAID_GUARDED_BY(lock_) = 0;
    std::int64_t away_until_ BRAID_GUARDED_BY(lock_) = 0;  // after a loss
    std::int64_t alarm_at_ BRAID_GUARDED_BY(lock_) = INT64_MAX;
    std::int64_t lost_at_[2] BRAID_GUARDED_BY(lock_) = {INT64_MIN, INT64_MIN};  // newest first
    processor_report counts_ BRAID_GUARDED_BY(lock_);
    time_histogram latencies_ BRAID_GUARDED_BY(lock_);
};

}  // namespace device::detail
BRAID_NAMESPACE_END
