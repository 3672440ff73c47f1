// Each record is read once, whole and in order, or it was counted as dropped (R1, R2).
#include "profile/record_ring.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using ring_under_test = braid::profile::basic_record_ring<policy, plain<int>>;

/// A ring of two places, so that the third record meets the reader or is dropped.
struct handed_on : rl::test_suite<handed_on, 2> {
    static constexpr int records = 4;
    plain<int> places[2];
    ring_under_test ring{places};
    plain<int> seen, last, dropped;

    void read() {
        ring.pop([&](std::span<const plain<int>> some) {
            for (const plain<int>& one : some) {
                require(one.get() > last.get(), "in order, each once");
                last = one.get();
                seen = seen + 1;
            }
        });
    }
    void after() {
        read();
        require(seen + dropped == records, "read or dropped");
        require(ring.dropped() == static_cast<std::uint64_t>(static_cast<int>(dropped)), "counted");
    }
    void thread(unsigned index) {
        if (index == 0) {
            for (int i = 1; i <= records; ++i) {
                plain<int>* const to = ring.begin_push();
                if (to == nullptr) {
                    dropped = dropped + 1;
                    continue;
                }
                *to = i;
                ring.end_push();
            }
            return;
        }
        read();
        read();
    }
};

}  // namespace

int main() {
    bool good = explore_all<handed_on>("record_ring: one writer, one reader");
    good = good && explore_randomly<handed_on>("record_ring: one writer, one reader", 300'000);
    return good ? 0 : 1;
}
