#include "braid/device/fake.hpp"

#include "device/make_back_end.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace device {
namespace {

using braid::detail::locked;
using detail::record;

enum verdict : std::uint8_t { well, lost, hangs, corrupt, unwanted };

/// Numbers that depend on the seed, the submission and its attempt alone, and on no order in which
/// threads come. SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
/// OOPSLA 2014).
class dice {
public:
    dice(std::uint64_t seed, std::uint64_t number, std::uint64_t attempt = 0)
        : state_(seed * 0x9e3779b97f4a7c15 + number * 0xbf58476d1ce4e5b9 + attempt) {
        next();
    }
    dice(std::uint64_t seed, const record& r) : dice(seed, r.number, r.starts) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    /// 0 <= … < 1.
    double part() { return static_cast<double>(next() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_;
};

class fake_processor final : public detail::back_end {
public:
    explicit fake_processor(const fake_options& o) : faults_(o) {}

    const char* kind() const override { return "fake"; }
    std::size_t size() const override { return sizeof(fake_processor); }
    bool is_busy() const override { return first_ != nullptr; }

    bool start(record& r) override {
        dice d(faults_.seed, r);
        if (d.part() < faults_.out_of_memory) return false;
        for (unsigned n = 0; n < r.copies; ++n) {
            if (d.part() < faults_.out_of_memory) return false;
        }
        r.verdict = d.part() < faults_.loss      ? lost
                    : d.part() < faults_.hang    ? hangs
                    : d.part() < faults_.corrupt ? corrupt
                                                 : well;
        const std::int64_t jitter = std::max<std::int64_t>(faults_.jitter.value, 0);
        const std::int64_t latency = braid::detail::saturated_sum(
            std::max<std::int64_t>(faults_.latency.value, 0),
            static_cast<std::int64_t>(d.part() * static_cast<double>(jitter)));
        const bool is_early = d.part() < faults_.reorder;
        if (latency == 0 && (r.verdict == well || r.verdict == corrupt)) {
            retire(r);
        } else {
            await(r, latency, is_early);
        }
        return true;
    }
    std::int64_t next_due() const override { return first_ != nullptr ? first_->due : INT64_MAX; }
    void serve(std::int64_t now) override {
        while (record* const r = take_due(now)) {
            if (r->verdict == lost || r->verdict == hangs) return lose_with(*r);
            if (r->verdict == unwanted) {
                of().ended(*r, detail::attempt::cancelled);
            } else {
                retire(*r);
            }
        }
    }
    void hint(record& r) override {
        record** at = &first_;
        while (*at != nullptr && *at != &r) at = &(*at)->next;
        if (*at == nullptr) return;  // it has been retired
        *at = r.next;
        r.verdict = unwanted;
        r.due = of().now();
        r.next = std::exchange(first_, &r);
    }
    void give_up() override {
        record* r = nullptr;
        {
            const locked lock(of().lock());
            r = std::exchange(first_, nullptr);
        }
        // What runs again goes to the front of its queue, so the newest comes first.
        record* newest = nullptr;
        while (r != nullptr) {
            record* const next = std::exchange(r->next, newest);
            newest = std::exchange(r, next);
        }
        while (newest != nullptr) {
            record* const next = newest->next;
            of().ended(*newest, detail::processor_state::attempt::lost);
            newest = next;
        }
    }
    bool has_memory() const override { return true; }
    void* allocate_buffer(const buffer_options& what) override {
        std::uint64_t number = 0;
        {
            const locked lock(of().lock());
            number = ++buffers_;
        }
        const bool is_refused = dice(faults_.seed ^ 2, number).part() < faults_.out_of_memory;
        return is_refused ? nullptr : back_end::allocate_buffer(what);
    }
    /// One bit of its first output that has any.
    void touch_up(record& r) override {
        if (r.verdict != corrupt) return;
        dice d(faults_.seed ^ 1, r);
        for (const detail::step& s : r.steps) {
            for (unsigned i = s.what.reads; i < s.what.reads + s.what.writes; ++i) {
                const std::span<std::byte> out = s.what.operands[i];
                if (out.empty()) continue;
                out[d.next() % out.size()] ^= std::byte{1} << (d.next() % 8);
                return;
            }
        }
    }

private:
    /// To an observer it has run until now: what the cores do for it are tasks.
    void retire(record& r) {
        if (r.passed_at != 0) r.finished = active_policy::now();
        of().run_on_cores(r);
    }
    /// Early: before the one that would have ended before it, at the same time as that.
    void await(record& r, std::int64_t latency, bool is_early) {
        const locked lock(of().lock());
        r.due = r.verdict == hangs ? INT64_MAX : braid::detail::saturated_sum(of().now(), latency);
        record **at = &first_, **before = nullptr;
        while (*at != nullptr && (*at)->due <= r.due) at = &(*(before = at))->next;
        if (is_early && r.verdict != hangs && before != nullptr && (*before)->level == r.level) {
            at = before;
            r.due = (*at)->due;
        }
        r.next = *at;
        *at = &r;
        if (r.is_unwanted) hint(r);  // before it was in the list
    }
    record* take_due(std::int64_t now) {
        const locked lock(of().lock());
        record* const r = first_;
        if (r == nullptr || r->due > now) return nullptr;
        first_ = r->next;
        return r;
    }
    /// With all that is in flight.
    void lose_with(record& r) {
        {
            const locked lock(of().lock());
            r.next = std::exchange(first_, &r);
        }
        of().lose();
    }

    const fake_options faults_;
    // Guarded by the processor's lock: what is in flight, by when it ends.
    record* first_ = nullptr;
    std::uint64_t buffers_ = 0;  // asked for so far
};

}  // namespace

fake::fake(scheduler& s, const fake_options& faults, const processor_options& options) {
    start(s, options, detail::make_back_end<fake_processor>(s, faults));
}

}  // namespace device
BRAID_NAMESPACE_END
