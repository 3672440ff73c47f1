#include "async/files/reader_state.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

reader_state::reader_state(scheduler& s, file_reader& owner, const file_reader_options& o)
    : outside_source(kind::awaited, o.name, o.where),
      rt_(s.internals()),
      scheduler_(s),
      owner_(owner),
      options_(o),
      buffers_(core::memory(rt_)),
      at_rest_(s, reset::manual),
      queue_(core::memory(rt_)),
      left_(o.bytes_per_frame) {
    core::attach_source(rt_, *this);
}

// ---- the back end ------------------------------------------------------------------------------

bool reader_state::make_back_end() {
    if (!make_real_back_end()) return false;
    {
        const locked lock(lock_);
        idle_count_ =
            std::min(static_cast<unsigned>(options_.in_flight), back_end_->most_flights());
        flight_count_ = idle_count_;
        kept_for_urgent_ = std::min(back_end_->kept_for_urgent(), flight_count_ - 1);
        most_low_flights_ = back_end_->most_of_low(flight_count_);
        for (unsigned i = 0; i < flight_count_; ++i) {
            flights_[i].number = i;
            idle_[i] = static_cast<std::uint16_t>(i);
        }
    }
    if (!options_.faults.any()) return true;
    file_back_end_base* const faulty =
        make_faulty_back_end(rt_, *this, options_.faults, *back_end_);
    if (faulty == nullptr) return false;
    back_end_ = faulty;
    return true;
}

bool reader_state::make_real_back_end() {
    const bool wants_uring = options_.back_end != file_back_end::threads;
    char why[160] = "under a chooser a seed decides in which order tasks read";
    if (wants_uring && !core::under_chooser(rt_)) {
        back_end_ =
            make_uring_back_end(rt_, static_cast<unsigned>(options_.in_flight), why, sizeof why);
    }
    if (back_end_ != nullptr) {
        const char* const refused =
            core::sources(rt_).watch(*this, back_end_->descriptor(), {.readable = true});
        if (refused == nullptr) return true;
        std::snprintf(why, sizeof why, "%s", refused);
        end_back_end();
    }
    if (wants_uring) {
        core::log(rt_, log_level::info, "'%s' reads with background threads, not with io_uring: %s",
                  name(), why);
    }
    back_end_ = make_threads_back_end(rt_, *this);
    return back_end_ != nullptr;
}

void reader_state::end_back_end() {
    if (file_back_end_base* const b = std::exchange(back_end_, nullptr)) b->end(rt_);
}

void reader_state::arrived(runtime&, whole_seat&, const core::arrival&) {
    {
        const locked lock(lock_);
        listens_ = false;
    }
    go_on();
}

/// What has ended by now makes the descriptor readable at once.
void reader_state::listen() {
    const char* const refused = core::sources(rt_).watch_again(*this, {.readable = true});
    if (refused == nullptr) return;
    core::log(rt_, log_level::error, "'%s' hears of no read that ends from here on: %s", name(),
              refused);
}

// ---- a read begins -----------------------------------------------------------------------------

/// What is wrong with it, null: nothing.
const char* reader_state::refusal_of(const file_request& r) {
    if (!r.of->is_open()) return r.of->error().c_str();
    if (r.offset > static_cast<std::uint64_t>(INT64_MAX) - r.bytes) {
        return "offset and length are beyond what a file can have";
    }
    const std::size_t step = r.of->alignment();
    const auto address = reinterpret_cast<std::uintptr_t>(r.data);
    if (r.offset % step != 0 || r.bytes % step != 0 || address % step != 0) {
        return "the file was opened for direct reads, and offset, length or buffer is no multiple "
               "of file::alignment()";
    }
    return nullptr;
}

bool reader_state::begin(file_request& r, task_context& context) {
    if (in_child()) return refuse_in_child(r, context);
    core::point(rt_);
    if (r.data == nullptr && r.bytes != 0) return false;  // of a read_then(), which got none
    {
        const locked lock(lock_);
        // The queue has room for what flies, too: it may have to come back.
        if (!queue_.reserve(std::size_t{open_} + 1)) return false;
        ++open_;
        r.number = counts_.asked++;
        r.asked_at = core::sources(rt_).clock();
    }
    const completion_id id = await_outside(context, {.name = r.options.name,
                                                     .deadline = r.options.deadline,
                                                     .cancel = {&ask, &r},
                                                     .where = r.options.where});
    if (!id) {
        bool last = false;
        {
            const locked lock(lock_);
            --open_;
            ++counts_.failed;
            last = is_at_rest();
        }
        if (last) at_rest_.set();
        return false;
    }
    // A reader knows how to end reads of its own scheduler only.
    runtime& own = runtime_of(context);
    const bool foreign = &own != &rt_;
    const char* const why = foreign ? "the file_reader is another scheduler's" : refusal_of(r);
    chain ended;
    {
        const locked lock(lock_);
        r.id = id;
        r.task = task_id{context.id()};
        // It may have been asked already, and ends here then (R1).
        const bool unwanted = !foreign && (r.at == file_request::stage::refused || closed_);
        if (unwanted || why != nullptr || r.bytes == 0) {
            r.at = file_request::stage::over;
            r.unwanted = unwanted;
            if (!unwanted && why != nullptr) r.error = EINVAL;
            ++(unwanted ? counts_.cancelled : why != nullptr ? counts_.failed : counts_.read);
            ended.push(r);
        } else {
            r.at = file_request::stage::queued;
            queue_.push(r);
        }
    }
    if (ended.first == nullptr) {
        go_on();
    } else if (why == nullptr || r.unwanted) {
        settle(ended);
    } else {
        refuse(id, r, context, why);
    }
    return true;
}

void reader_state::refuse(completion_id id, const file_request& r, task_context& context,
                          const char* why) {
    char text[400];
    std::snprintf(text, sizeof text, "reading '%s': %s", r.options.name, why);
    core::settle(runtime_of(context), core::seat_of(context), id,
                 {.code = EINVAL, .sentence = text});
}

bool reader_state::refuse_in_child(const file_request& r, task_context& context) const {
    const completion_id id =
        await_outside(context, {.name = r.options.name, .where = r.options.where});
    if (!id) return false;
    char why[200];
    std::snprintf(why, sizeof why,
                  "a child of fork() has neither the threads nor the ring of its parent's '%.60s': "
                  "make a file_reader there",
                  name());
    refuse(id, r, context, why);
    return true;
}

/// See completion_hint.
bool reader_state::ask(void* self, completion_id) {
    auto& r = *static_cast<file_request*>(self);
    reader_state& s = *r.reader;
    const locked lock(s.lock_);
    switch (r.at) {
        case file_request::stage::made:
            r.at = file_request::stage::refused;  // begin() ends it
            return false;
        case file_request::stage::queued:
            s.queue_.remove(r);
            r.at = file_request::stage::over;
            ++s.counts_.cancelled;
            return true;
        case file_request::stage::flying:
            r.unwanted = true;
            return false;
        default:
            return false;
    }
}

read_result reader_state::end(file_request& r) {
    read_result got;
    bool last = false;
    {
        const locked lock(lock_);
        got = {r.done, r.at_end};
        --open_;
        last = is_at_rest();
    }
    if (last) at_rest_.set();  // R4: this may be gone
    return got;
}

// ---- it is started -----------------------------------------------------------------------------

void reader_state::go_on() {
    {
        const locked lock(lock_);
        again_ = true;
        if (std::exchange(busy_, true)) return;
    }
    while (step()) {
    }
}

/// False: nobody is busy any more, and this may be gone (R4).
bool reader_state::step() {
    flight* list[file_reader_options::most_in_flight];
    unsigned count = 0;
    {
        const locked lock(lock_);
        again_ = false;
        count = take_flights(list);
    }
    if (count != 0) back_end_->start({list, count});
    count = back_end_->reap(list);
    chain ended;
    bool goes_on = true, last = false, begins_to_listen = false;
    {
        const locked lock(lock_);
        for (unsigned i = 0; i < count; ++i) finish(*list[i], ended);
        goes_on = count != 0 || again_;
        begins_to_listen = !goes_on && has_to_listen();
        listens_ = listens_ || begins_to_listen;
        goes_on = goes_on || begins_to_listen;  // listens while it is busy (R4)
        busy_ = goes_on;
        last = is_at_rest();
    }
    if (begins_to_listen) listen();
    settle(ended);
    if (last) at_rest_.set();
    return goes_on;
}

bool reader_state::may_start(const file_request& r) const {
    return r.options.priority == priority_level::high || options_.bytes_per_frame == 0 ||
           r.bytes <= left_ || left_ == options_.bytes_per_frame;
}

bool reader_state::has_flight_for(const file_request& r) const {
    const priority_level level = r.options.priority;
    if (level == priority_level::low && low_flights_ >= most_low_flights_) return false;
    return idle_count_ > (level == priority_level::high ? 0 : kept_for_urgent_);
}

void reader_state::pay(const file_request& r) {
    if (options_.bytes_per_frame == 0) return;
    if (r.options.priority == priority_level::high && r.bytes > left_) {
        counts_.overdrawn += r.bytes - left_;
    }
    left_ -= std::min(left_, r.bytes);
}

unsigned reader_state::take_flights(flight** to) {
    unsigned count = 0;
    while (again_count_ != 0) to[count++] = &flights_[again_flights_[--again_count_]];
    while (idle_count_ != 0) {
        file_request* const r = queue_.first();
        if (r == nullptr || !may_start(*r) || !has_flight_for(*r)) break;
        flight& f = flights_[idle_[--idle_count_]];
        f.descriptor = r->of->descriptor();
        f.offset = r->offset;
        f.bytes = f.done = 0;
        f.first = nullptr;
        f.is_low = r->options.priority == priority_level::low;
        low_flights_ += f.is_low;
        take_neighbours(f);
        to[count++] = &f;
    }
    counts_.requests += count;
    return count;
}

/// The first of the queue, and what lies behind it in the file and comes after it in the queue.
void reader_state::take_neighbours(flight& f) {
    file_request** end = &f.first;
    const file_request* before = nullptr;
    for (unsigned pieces = 0; pieces < platform::most_pieces; ++pieces) {
        file_request* const r = queue_.first();
        if (before != nullptr) {
            const bool fits = r != nullptr && !r->alone && !before->alone && r->of == before->of &&
                              r->offset == before->offset + before->bytes &&
                              r->options.priority == before->options.priority &&
                              r->options.frame == before->options.frame &&
                              f.bytes + r->bytes <= file_reader::most_merged && may_start(*r);
            if (!fits) return;
        }
        queue_.remove(*r);
        pay(*r);
        r->at = file_request::stage::flying;
        r->next = nullptr;
        *end = r;
        end = &r->next;
        f.bytes += r->bytes;
        ++flying_;
        before = r;
    }
}

// ---- it has ended ------------------------------------------------------------------------------

void reader_state::finish(flight& f, chain& ended) {
    // io_uring gives back what a thread had asked for that has ended meanwhile (ECANCELED).
    const bool again = f.got == -EAGAIN || f.got == -EINTR || f.got == -ECANCELED;
    if (again) f.got = 0;
    if (f.got < 0) return fail(f, static_cast<int>(-f.got), ended);
    if (f.got == 0 && !again) return land(f, ended);
    f.done += static_cast<std::size_t>(f.got);
    if (f.done >= f.bytes) return land(f, ended);
    // The rest, which may turn out to be nothing.
    ++counts_.continued;
    f.offset += static_cast<std::uint64_t>(f.got);
    again_flights_[again_count_++] = static_cast<std::uint16_t>(f.number);
    again_ = true;
}

/// Nobody fails for what is wrong with a neighbour.
void reader_state::fail(flight& f, int error, chain& ended) {
    const bool merged = f.first->next != nullptr;
    for (file_request* r = f.first; r != nullptr;) {
        file_request& one = *std::exchange(r, r->next);
        --flying_;
        if (merged && !one.unwanted) {
            one.alone = true;
            one.at = file_request::stage::queued;
            queue_.push(one);
            continue;
        }
        one.at = file_request::stage::over;
        one.error = one.unwanted ? 0 : error;
        ++(one.unwanted ? counts_.cancelled : counts_.failed);
        ended.push(one);
    }
    free(f);
}

void reader_state::land(flight& f, chain& ended) {
    const std::int64_t now = core::sources(rt_).clock();
    std::size_t left = f.done;
    for (file_request* r = f.first; r != nullptr;) {
        file_request& one = *std::exchange(r, r->next);
        --flying_;
        one.done = std::min(left, one.bytes);
        one.at_end = one.done < one.bytes;
        left -= one.done;
        one.at = file_request::stage::over;
        // Late is late, also where the timer has not said so yet.
        one.unwanted = one.unwanted || now - one.asked_at >= one.options.deadline.value;
        if (one.unwanted) {
            ++counts_.cancelled;
        } else {
            ++counts_.read;
            counts_.bytes += one.done;
            times_.add(nanoseconds{now - one.asked_at});
        }
        ended.push(one);
    }
    free(f);
}

void reader_state::free(flight& f) {
    f.first = nullptr;
    low_flights_ -= f.is_low;
    idle_[idle_count_++] = static_cast<std::uint16_t>(f.number);
    again_ = true;
}

void reader_state::settle(chain ended) {
    if (ended.first == nullptr) return;
    const core::seat_lease seat(rt_, nullptr);
    if (ended.first == ended.last) return settle(*ended.first, *seat);
    const core::one_wake together(rt_);
    for (file_request* r = ended.first; r != nullptr;) {
        file_request& one = *std::exchange(r, r->next);  // it lies in a frame that goes on
        settle(one, *seat);
    }
}

void reader_state::settle(file_request& r, core::seat& w) {
    if (r.unwanted) {
        const std::int64_t waited = core::sources(rt_).clock() - r.asked_at;
        if (waited < r.options.deadline.value) {
            core::settle_as_cancelled(rt_, w, r.id);
        } else {
            core::settle(rt_, w, r.id, {.code = completion_error::deadline_passed});
        }
        return;
    }
    if (r.error == 0) {
        core::settle(rt_, w, r.id);
        return;
    }
    char words[128], text[512];
    platform::words_of_error(r.error, words, sizeof words);
    std::snprintf(text, sizeof text, "reading '%s', %zu bytes at %llu of %s: %s", r.options.name,
                  r.bytes, static_cast<unsigned long long>(r.offset), r.of->path().c_str(), words);
    core::settle(rt_, w, r.id, {.code = r.error, .sentence = text});
}

// ---- the rest ----------------------------------------------------------------------------------

void reader_state::come_in() {
    const locked lock(lock_);
    ++helpers_;
}

void reader_state::leave() {
    bool last = false;
    {
        const locked lock(lock_);
        --helpers_;
        last = is_at_rest();
    }
    if (last) at_rest_.set();
}

void reader_state::come_to_rest() {
    chain ended;
    bool last = false;
    {
        const locked lock(lock_);
        closed_ = true;
        while (file_request* const r = queue_.first()) give_up(*r, ended);
        last = is_at_rest();
    }
    settle(ended);
    if (!last) scheduler_.do_work_while_waiting_for(at_rest_);
    core::sources(rt_).detach(*this);
}

void reader_state::begin_frame() {
    core::point(rt_);
    {
        const locked lock(lock_);
        left_ = options_.bytes_per_frame;
        ++counts_.frames;
        if (queue_.size() == 0) return;
    }
    go_on();
}

/// One that the task awaits and that is queued, but not one that has these already.
file_request* reader_state::queued_for(task_id of, const order* unlike) {
    for (std::size_t i = 0; i < queue_.size(); ++i) {
        file_request& r = *queue_.at(i);
        const bool is_like = unlike != nullptr && r.options.priority == unlike->level &&
                             r.options.frame == unlike->frame;
        if (r.task == of && !is_like) return &r;
    }
    return nullptr;
}

unsigned reader_state::set_priority(task_id of, const order& now) {
    core::point(rt_);
    unsigned count = 0;
    {
        const locked lock(lock_);
        while (file_request* const r = queued_for(of, &now)) {
            r->options.priority = now.level;
            r->options.frame = now.frame;
            queue_.changed(*r);
            ++count;
        }
    }
    if (count != 0) go_on();
    return count + (now.level == priority_level::high ? back_end_->hurry(of) : 0);
}

unsigned reader_state::cancel(task_id of) {
    core::point(rt_);
    unsigned count = 0;
    chain ended;
    {
        const locked lock(lock_);
        for (; file_request* const r = queued_for(of); ++count) give_up(*r, ended);
        for (flight& f : flights_) {
            for (file_request* r = f.first; r != nullptr; r = r->next) {
                if (r->task == of && !std::exchange(r->unwanted, true)) ++count;
            }
        }
    }
    settle(ended);
    return count;
}

/// Before the system has heard of it.
void reader_state::give_up(file_request& r, chain& ended) {
    queue_.remove(r);
    r.at = file_request::stage::over;
    r.unwanted = true;
    ++counts_.cancelled;
    ended.push(r);
}

/// The system pins the buffer of a direct read each time, unless it knows it (64 KiB: a third of
/// the processor time); other reads are copied, for which it makes no difference, and pinned memory
/// is little.
buffer_shelf::buffer reader_state::take_buffer(std::size_t bytes, const file& from) {
    buffer_shelf::buffer b = buffers_.take(bytes);
    const bool is_direct = from.alignment() > 1;
    if (b.data == nullptr || b.known_as != buffer_shelf::unknown || !is_direct) return b;
    b.known_as = back_end_->get_to_know({b.data, b.room});
    if (b.known_as < 0) {
        b.known_as = buffer_shelf::refused;
        return b;
    }
    const locked lock(lock_);
    counts_.registered_bytes += b.room;
    return b;
}

file_reader_statistics reader_state::statistics() const {
    core::point(rt_);
    const locked lock(lock_);
    file_reader_statistics s = counts_;
    s.queued = static_cast<unsigned>(queue_.size());
    s.in_flight = flying_;
    s.buffer_bytes = buffers_.in_use();
    s.p50 = times_.quantile(0.5);
    s.p99 = times_.quantile(0.99);
    s.back_end = back_end_->name();
    return s;
}

}  // namespace detail
BRAID_NAMESPACE_END
