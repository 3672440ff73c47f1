// Every pushed value is popped exactly once, whole, and each producer's values in their order; also
// where the positions wrap.
#include "braid/base/bounded_queue.hpp"

#include "relacy_policy.hpp"

#include <optional>

namespace {

using namespace braid_model;

struct item {
    plain<unsigned> producer, number;
};
using queue = braid::bounded_queue<item, policy>;

constexpr std::uint64_t before_wrap = UINT64_MAX - 1;

/// `Producers` push `Each` values, `Consumers` take them; a side that can do nothing yields.
template <unsigned Producers, unsigned Consumers, unsigned Each, std::uint64_t First>
struct producers_and_consumers
    : rl::test_suite<producers_and_consumers<Producers, Consumers, Each, First>,
                     Producers + Consumers> {
    static constexpr unsigned total = Producers * Each, capacity = 2;

    queue::cell cells[capacity];
    std::optional<queue> values;
    plain<int> taken[Producers][Each];
    atomic<std::uint32_t> popped;

    void before() { values.emplace(cells, capacity, First); }
    void after() {
        for (auto& producer : taken) {
            for (auto& count : producer) require(count == 1, "popped exactly once");
        }
        require(values->size() == 0, "empty at the end");
        require(!values->pop_with([](item&) {}), "nothing is left");
        values.reset();
    }

    void produce(unsigned producer) {
        for (unsigned n = 0; n < Each; ++n) {
            while (!values->push_with([&](item& to) {
                to.producer = producer;
                to.number = n;
            })) {
                policy::relax();
            }
        }
    }
    void consume() {
        unsigned next[Producers] = {};
        while (popped.load(std::memory_order::relaxed) != total) {
            const bool got = values->pop_with([&](item& from) {
                const unsigned producer = from.producer, number = from.number;
                require(number >= next[producer], "one producer's values come in their order");
                next[producer] = number + 1;
                taken[producer][number] = taken[producer][number] + 1;
            });
            if (got) {
                popped.fetch_add(1, std::memory_order::relaxed);
            } else {
                policy::relax();
            }
        }
    }
    void thread(unsigned index) {
        if (index < Producers) {
            produce(index);
        } else {
            consume();
        }
    }
};

/// One push and one pop at each of four positions that wrap, then a full queue and an empty one.
struct alone : rl::test_suite<alone, 2> {
    queue::cell cells[2];
    std::optional<queue> values;

    void before() { values.emplace(cells, 2, UINT64_MAX - 2); }
    void after() { values.reset(); }
    void thread(unsigned index) {
        if (index != 0) return;
        for (unsigned round = 0; round < 6; ++round) {
            const auto write = [&](item& to) { to.number = round; };
            require(values->push_with(write) && values->push_with(write), "room for two");
            require(!values->push_with(write), "full");
            require(values->size() == 2, "two in it");
            const auto read = [&](item& from) { require(from.number == round, "what was pushed"); };
            require(values->pop_with(read) && values->pop_with(read), "two to take");
            require(!values->pop_with(read), "empty");
        }
    }
};

}  // namespace

int main() {
    bool good = explore_all<alone>("bounded queue: full and empty over the wrap");
    good = good && explore_bounded<producers_and_consumers<1, 1, 3, before_wrap>>(
                       "bounded queue: 1 + 1, over the wrap", 2);
    good = good &&
           explore_randomly<producers_and_consumers<2, 1, 2, 0>>("bounded queue: 2 + 1", 200'000);
    good = good &&
           explore_randomly<producers_and_consumers<2, 2, 2, 0>>("bounded queue: 2 + 2", 200'000);
    good = good && explore_randomly<producers_and_consumers<2, 2, 3, before_wrap>>(
                       "bounded queue: 2 + 2, over the wrap", 200'000);
    return good ? 0 : 1;
}
