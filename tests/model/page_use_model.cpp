// A page that a frame uses is not evicted under it, and one that comes is seen whole: two threads
// use a page without the lock, a third one evicts it and brings it back. A page that is read while
// it is freed is a data race to Relacy.
#include "pages/use_words.hpp"

#include <ostream>

BRAID_NAMESPACE_BEGIN
namespace detail {
/// For Relacy's histories.
inline std::ostream& operator<<(std::ostream& to, page_stage stage) {
    return to << static_cast<int>(stage);
}
}  // namespace detail
BRAID_NAMESPACE_END

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using braid::detail::page_stage;

template <unsigned Evictions>
struct users_and_evictor : rl::test_suite<users_and_evictor<Evictions>, 3> {
    static constexpr std::uint64_t frame = 5;
    static constexpr int there = 1, gone = 2;

    policy::atomic<page_stage> stage{page_stage::resident};
    policy::atomic<std::uint64_t> used{frame - 1};
    braid_model::mutex lock;
    plain<int> bytes;
    plain<int> uses, firsts;  // under the lock

    void before() { bytes = there; }
    void after() {
        require(firsts <= 1, "one is the first of its frame");
        require(uses == 0 || stage.load(std::memory_order_relaxed) == page_stage::resident,
                "what the frame uses stays");
    }

    void use() {
        const braid::detail::page_usage u = braid::detail::use_page(stage, used, frame);
        bool is_there = u.there;
        if (!is_there) {
            lock.lock();
            is_there = stage.load(std::memory_order_relaxed) == page_stage::resident;
            lock.unlock();
        }
        if (is_there) require(bytes == there, "what is used is whole");
        lock.lock();
        uses = uses + is_there;
        firsts = firsts + u.first;
        lock.unlock();
    }
    void evict() {
        const auto has_ended = [](std::uint64_t f) { return f < frame; };
        lock.lock();
        if (braid::detail::let_page_leave(stage, used, has_ended)) {
            bytes = gone;
            stage.store(page_stage::absent, std::memory_order_seq_cst);
        }
        lock.unlock();
    }
    void bring_back() {
        lock.lock();
        if (stage.load(std::memory_order_relaxed) == page_stage::absent) {
            bytes = there;
            braid::detail::let_page_enter(stage);
        }
        lock.unlock();
    }
    void thread(unsigned index) {
        if (index < 2) return use();
        for (unsigned i = 0; i < Evictions; ++i) {
            evict();
            if (i + 1 < Evictions) bring_back();
        }
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<users_and_evictor<1>>("page use: an eviction", 3);
    good = good && explore_randomly<users_and_evictor<2>>("page use: two evictions", 300'000);
    return good ? 0 : 1;
}
