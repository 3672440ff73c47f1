#include "braid/frame/fault_injector.hpp"

#include <cstring>
#include <thread>

BRAID_NAMESPACE_BEGIN

const char* injected_fault::what() const noexcept { return "braid: a fault that was injected"; }

namespace {

bool is_in(const fault_frames& in, std::uint64_t frame) {
    if (frame < in.first) return false;
    return in.every == 0 ? frame == in.first : (frame - in.first) % in.every == 0;
}

/// splitmix64's finisher (Steele, Lea, Flood 2014).
std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58'476d'1ce4'e5b9U;
    z = (z ^ z >> 27) * 0x94d0'49bb'1331'11ebU;
    return z ^ z >> 31;
}

}  // namespace

bool fault_injector::add(const fault& f) {
    const std::lock_guard lock(mutex_);
    const unsigned count = count_.load(relaxed);
    if (count == capacity) return false;
    faults_[count] = f;
    count_.store(count + 1, relaxed);
    return true;
}

bool fault_injector::slow(const char* stage, nanoseconds by, fault_frames in) {
    return add({stage, by, in, false});
}
bool fault_injector::fail(const char* stage, fault_frames in) {
    return add({stage, nanoseconds{0}, in, true});
}
void fault_injector::yields(unsigned percent, std::uint64_t seed) {
    seed_.store(seed, relaxed);
    percent_.store(percent, relaxed);
}
void fault_injector::clear() {
    const std::lock_guard lock(mutex_);
    count_.store(0, relaxed);
    percent_.store(0, relaxed);
}

std::uint64_t fault_injector::slowed() const { return slowed_.load(relaxed); }
std::uint64_t fault_injector::failed() const { return failed_.load(relaxed); }
std::uint64_t fault_injector::yielded() const { return yielded_.load(relaxed); }

void fault_injector::begin_stage(const char* stage, std::uint64_t frame) {
    if (count_.load(relaxed) == 0) return;
    nanoseconds by{0};
    bool fails = false;
    {
        const std::lock_guard lock(mutex_);
        for (unsigned i = 0; i < count_.load(relaxed); ++i) {
            const fault& f = faults_[i];
            if (!is_in(f.in, frame) || std::strcmp(f.stage, stage) != 0) continue;
            by.value = detail::saturated_sum(by.value, f.by.value);
            fails = fails || f.fails;
        }
    }
    if (by.value > 0) {
        slowed_.fetch_add(1, relaxed);
        const std::int64_t until = detail::deadline_after(active_policy::now(), by);
        while (active_policy::now() < until) active_policy::relax();
    }
    if (!fails) return;
    failed_.fetch_add(1, relaxed);
#if BRAID_HAS_EXCEPTIONS
    throw injected_fault();
#endif
}

void fault_injector::begin_body(std::uint64_t frame, std::uint64_t body) {
    const unsigned percent = percent_.load(relaxed);
    if (percent == 0) return;
    const std::uint64_t drawn = mixed(mixed(seed_.load(relaxed) + frame) + body);
    if (drawn % 100 >= percent) return;
    yielded_.fetch_add(1, relaxed);
    std::this_thread::yield();
}

BRAID_NAMESPACE_END
