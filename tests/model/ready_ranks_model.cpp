// Ready nodes by rank: a thread that has a ticket gets a node, each node goes to one, with what was
// written before it became ready. Tickets here order nothing: the bits do.
#include "graph/ready_ranks.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using ranks = braid::detail::basic_ready_ranks<policy>;

/// `Givers` threads add `Each` nodes; the others take as many tickets as they see, until all are
/// taken. One takes exact nodes first, as a thread that waits for a single one does.
template <unsigned Givers, unsigned Each, unsigned Takers>
struct given_and_taken : rl::test_suite<given_and_taken<Givers, Each, Takers>, Givers + Takers> {
    static constexpr unsigned nodes = Givers * Each;

    ranks::word words[1];
    ranks ready;
    plain<unsigned> written[nodes], taken[nodes];
    atomic<int> tickets, left;

    void before() {
        words[0].store(0, std::memory_order::relaxed);
        ready = ranks(words, 1);
        for (unsigned n = 0; n < nodes; ++n) {
            written[n] = 0;
            taken[n] = 0;
        }
        tickets.store(0, std::memory_order::relaxed);
        left.store(nodes, std::memory_order::relaxed);
    }
    void after() {
        for (unsigned n = 0; n < nodes; ++n) require(taken[n] == 1, "each node is taken once");
    }
    void run(std::uint32_t node) {
        require(written[node] == node + 1, "what came before the node is visible");
        taken[node] = taken[node] + 1;
    }
    void thread(unsigned index) {
        if (index < Givers) {
            for (unsigned i = 0; i < Each; ++i) {
                // Each thread's ranks lie apart: givers share the word and its order.
                const std::uint32_t node = i * Givers + index;
                written[node] = node + 1;
                ready.add(node);
                // release: the ticket comes after its bit (R1). Takers do not acquire it.
                tickets.fetch_add(1, std::memory_order::release);
            }
            return;
        }
        while (left.load(std::memory_order::relaxed) != 0) {
            int seen = tickets.load(std::memory_order::relaxed);
            if (seen == 0 ||
                !tickets.compare_exchange_weak(seen, seen - 1, std::memory_order::relaxed,
                                               std::memory_order::relaxed)) {
                policy::relax();
                continue;
            }
            left.fetch_sub(1, std::memory_order::relaxed);
            const std::uint32_t last = nodes - 1;
            run(index == Givers && ready.take(last) ? last : ready.take());
        }
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<given_and_taken<1, 2, 2>>("ready ranks: one giver", preemptions(3));
    good = good && explore_bounded<given_and_taken<2, 1, 1>>("ready ranks: two givers", 3);
    good = good && explore_randomly<given_and_taken<2, 2, 2>>("ready ranks: two and two", 300'000);
    return good ? 0 : 1;
}
