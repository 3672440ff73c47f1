#pragma once
// What a file_reader is. A read's way, in order of the functions below:
//
//   begin ─► queued ─► take_flights ─► back end ─► finish ─► settle ─► end
//
// R1  A read is in the queue, in a flight, or has ended; who changes that has the lock. The one who
// takes
//     it from there settles its completion, once, without the lock; or has said yes to ask().
// R2  The buffer and the request are the system's while the read flies: ask() says no then.
// R3  One thread at a time starts and reaps (`busy_`); another one that comes meanwhile leaves word
//     (`again_`) and goes.
// R4  The destructor waits until nobody is in here: no read is open, none of the back end's tasks
//     runs, nobody is busy.

#include "async/files/back_end.hpp"
#include "async/files/buffer_shelf.hpp"
#include "async/files/read_queue.hpp"
#include "braid/base/time_histogram.hpp"
#include "braid/core/event.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class reader_state final : public core::outside_source {
public:
    reader_state(scheduler& s, file_reader& owner, const file_reader_options& o);
    ~reader_state() override = default;
    /// False: no memory.
    bool make_back_end();
    /// Nothing is queued or flies afterwards, and nobody is in here (R4).
    void come_to_rest();
    void end_back_end();
    bool in_child() const { return core::in_child(rt_); }

    /// False: no memory, and nothing is awaited.
    bool begin(file_request& r, task_context& context);
    read_result end(file_request& r);

    /// Starts what may be started, and settles what has ended, until there is neither.
    void go_on();
    /// A task of the back end's begins, and ends.
    void come_in();
    void leave();
    /// Another thread stands in for this one; not under a chooser, which decides who does.
    template <class F>
    void while_blocked(F&& f) {
        if (core::under_chooser(rt_)) return f();
        scheduler_.blocking(std::forward<F>(f));
    }

    void begin_frame();
    struct order {
        priority_level level;
        std::uint64_t frame;
    };
    unsigned set_priority(task_id of, const order& now);
    unsigned cancel(task_id of);
    file_reader_statistics statistics() const;
    buffer_shelf::buffer take_buffer(std::size_t bytes, const file& from);
    buffer_shelf& buffers() { return buffers_; }

    void arrived(runtime& rt, whole_seat& w, const core::arrival& what) override;
    void abandon() override;

private:
    /// Reads that have ended, which nobody else knows any more; to be settled.
    struct chain {
        file_request *first = nullptr, *last = nullptr;
        void push(file_request& r) {
            r.next = nullptr;
            (first == nullptr ? first : last->next) = &r;
            last = &r;
        }
    };

    bool make_real_back_end();
    static bool ask(void* self, completion_id id);
    static const char* refusal_of(const file_request& r);
    static void refuse(completion_id id, const file_request& r, task_context& context,
                       const char* why);
    bool refuse_in_child(const file_request& r, task_context& context) const;
    bool step();
    void listen();
    /// Requests are with the system, which nobody would hear of. Most that are in the system's
    /// cache end before that is asked.
    bool has_to_listen() const BRAID_REQUIRES(lock_) {
        return !listens_ && back_end_->descriptor() >= 0 &&
               idle_count_ + again_count_ != flight_count_;
    }
    unsigned take_flights(flight** to) BRAID_REQUIRES(lock_);
    bool may_start(const file_request& r) const BRAID_REQUIRES(lock_);
    bool has_flight_for(const file_request& r) const BRAID_REQUIRES(lock_);
    void pay(const file_request& r) BRAID_REQUIRES(lock_);
    void take_neighbours(flight& f) BRAID_REQUIRES(lock_);
    void finish(flight& f, chain& ended) BRAID_REQUIRES(lock_);
    void fail(flight& f, int error, chain& ended) BRAID_REQUIRES(lock_);
    void land(flight& f, chain& ended) BRAID_REQUIRES(lock_);
    void free(flight& f) BRAID_REQUIRES(lock_);
    void settle(chain ended);
    void settle(file_request& r, core::seat& w);
    bool is_at_rest() const BRAID_REQUIRES(lock_) {
        return closed_ && open_ == 0 && helpers_ == 0 && !busy_;
    }
    file_request* queued_for(task_id of, const order* unlike = nullptr) BRAID_REQUIRES(lock_);
    void give_up(file_request& r, chain& ended) BRAID_REQUIRES(lock_);

    runtime& rt_;
    scheduler& scheduler_;
    file_reader& owner_;
    const file_reader_options options_;
    file_back_end_base* back_end_ = nullptr;
    buffer_shelf buffers_;
    event at_rest_;

    mutable mutex lock_;
    read_queue queue_ BRAID_GUARDED_BY(lock_);
    flight flights_[file_reader_options::most_in_flight] BRAID_GUARDED_BY(lock_);
    std::uint16_t idle_[file_reader_options::most_in_flight] BRAID_GUARDED_BY(lock_);
    unsigned idle_count_ BRAID_GUARDED_BY(lock_) = 0, flight_count_ BRAID_GUARDED_BY(lock_) = 0;
    unsigned kept_for_urgent_ BRAID_GUARDED_BY(lock_) = 0;
    unsigned low_flights_ BRAID_GUARDED_BY(lock_) = 0, most_low_flights_
                                                       BRAID_GUARDED_BY(lock_) = 0;
    // What the system has cut short comes before others.
    std::uint16_t again_flights_[file_reader_options::most_in_flight] BRAID_GUARDED_BY(lock_);
    unsigned again_count_ BRAID_GUARDED_BY(lock_) = 0;
    std::size_t left_ BRAID_GUARDED_BY(lock_);  // of the frame's budget
    unsigned open_ BRAID_GUARDED_BY(lock_) = 0, helpers_ BRAID_GUARDED_BY(lock_) = 0;
    unsigned flying_ BRAID_GUARDED_BY(lock_) = 0;
    bool busy_ BRAID_GUARDED_BY(lock_) = false, again_ BRAID_GUARDED_BY(lock_) = false;
    bool closed_ BRAID_GUARDED_BY(lock_) = false;
    bool listens_ BRAID_GUARDED_BY(lock_) = true;  // the descriptor is watched, since it was opened
    file_reader_statistics counts_ BRAID_GUARDED_BY(lock_);
    time_histogram times_;  // added to under the lock
};

}  // namespace detail
BRAID_NAMESPACE_END
