// What goes wrong by a seed, before and after another back end has read.
#include "async/files/reader_state.hpp"
#include "base/accounted_array.hpp"

#include <algorithm>
#include <cerrno>
#include <new>
#include <random>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

class faulty_back_end final : public file_back_end_base {
public:
    faulty_back_end(runtime& rt, reader_state& of, const file_faults& faults,
                    file_back_end_base& inner)
        : rt_(rt), of_(of), faults_(faults), inner_(inner), random_(faults.seed) {}
    void end(runtime& rt) override {
        inner_.end(rt);
        this->~faulty_back_end();
        core::memory(rt).release(this, sizeof *this, alignof(faulty_back_end), memory_tag::file);
    }
    const char* name() const override { return inner_.name(); }
    unsigned most_flights() const override { return inner_.most_flights(); }
    unsigned kept_for_urgent() const override { return inner_.kept_for_urgent(); }
    unsigned hurry(task_id of) override { return inner_.hurry(of); }
    int get_to_know(std::span<std::byte> buffer) override { return inner_.get_to_know(buffer); }
    int descriptor() const override { return inner_.descriptor(); }

    void start(std::span<flight* const> all) override {
        flight* taken[file_reader_options::most_in_flight];
        std::size_t count = 0;
        for (flight* const f : all) {
            fate& its = fates_[f->number];
            its = draw();
            if (its.is_refused) {
                f->got = -EAGAIN;
                hold(*f, 0);
            } else {
                taken[count++] = f;
            }
        }
        if (count != 0) inner_.start({taken, count});
    }

    unsigned reap(std::span<flight*> to) override {
        const unsigned count = inner_.reap(to);
        for (flight* const f : to.first(count)) {
            const fate& its = fates_[f->number];
            if (its.fails) f->got = -EIO;
            if (its.is_cut && f->got > 1) f->got = 1 + (f->got - 1) / 2;
            hold(*f, its.delay);
        }
        return let_go(to);
    }

private:
    struct fate {
        bool fails = false, is_cut = false, is_refused = false;
        std::int64_t delay = 0;
    };
    struct held {
        flight* of;
        std::int64_t until;
    };

    bool happens(double share) {
        return std::uniform_real_distribution<double>(0, 1)(random_) < share;
    }
    /// In one order, so that a seed is the same whatever comes of it.
    fate draw() {
        fate one;
        one.fails = happens(faults_.fails);
        one.is_cut = happens(faults_.is_cut);
        one.is_refused = happens(faults_.is_refused);
        const bool is_late = happens(faults_.is_late);
        const double part = std::uniform_real_distribution<double>(0, 1)(random_);
        if (is_late) {
            one.delay = static_cast<std::int64_t>(part * static_cast<double>(faults_.delay.value));
        }
        return one;
    }
    void hold(flight& f, std::int64_t delay) {
        const std::int64_t now = core::sources(rt_).clock();
        held_[count_++] = {&f, now + delay};
        if (delay <= 0) return;
        of_.come_in();  // until the timer has come
        const timer_id alarm = core::sources(rt_).arm_timer(
            {.deadline = now + delay, .call = {&due, reinterpret_cast<std::uintptr_t>(this), 0}});
        if (alarm) return;
        held_[count_ - 1].until = now;
        of_.leave();
    }
    static void due(runtime&, whole_seat&, std::uint64_t word, const core::arrival&) {
        reader_state& of =
            reinterpret_cast<faulty_back_end*>(static_cast<std::uintptr_t>(word))->of_;
        of.go_on();
        of.leave();
    }
    unsigned let_go(std::span<flight*> to) {
        if (faults_.reorders) std::shuffle(held_, held_ + count_, random_);
        const std::int64_t now = core::sources(rt_).clock();
        unsigned ended = 0;
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count_; ++i) {
            if (held_[i].until <= now) {
                to[ended++] = held_[i].of;
            } else {
                held_[kept++] = held_[i];
            }
        }
        count_ = kept;
        return ended;
    }

    runtime& rt_;
    reader_state& of_;
    const file_faults faults_;
    file_back_end_base& inner_;
    // By the one who starts and reaps.
    std::mt19937_64 random_;
    fate fates_[file_reader_options::most_in_flight];
    held held_[file_reader_options::most_in_flight];
    std::size_t count_ = 0;
};

}  // namespace

file_back_end_base* make_faulty_back_end(runtime& rt, reader_state& of, const file_faults& faults,
                                         file_back_end_base& inner) {
    void* const room = core::memory(rt).allocate(sizeof(faulty_back_end), alignof(faulty_back_end),
                                                 memory_tag::file);
    return room != nullptr ? ::new (room) faulty_back_end(rt, of, faults, inner) : nullptr;
}

}  // namespace detail
BRAID_NAMESPACE_END
