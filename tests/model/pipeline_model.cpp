// A small pipeline: a source, a stage for any number, a serial stage. Each item comes out once, in
// order; nobody leaves beside something that can run; and nothing is touched by two.
#include "braid/fork_join/pipeline_flow.hpp"

#include "relacy_policy.hpp"

namespace {

using namespace braid_model;
using braid::detail::no_token;
using ready_tokens = braid::detail::basic_ready_tokens<policy>;
using returned_tokens = braid::detail::basic_returned_tokens<policy>;
using serial_gate = braid::detail::basic_serial_gate<policy>;

/// Works like pipeline_run, with threads that come when they are called.
template <unsigned Items, unsigned Tokens, unsigned Cells, unsigned Threads>
struct small_pipeline : rl::test_suite<small_pipeline<Items, Tokens, Cells, Threads>, Threads> {
    static constexpr std::uint32_t source = Tokens;

    struct token {
        plain<unsigned> number, value;
    };
    token tokens[Tokens];
    atomic<std::uint32_t> next[Tokens + 1], cells[Cells];
    ready_tokens ready;
    returned_tokens returned;
    serial_gate last;
    plain<std::uint32_t> free;
    plain<unsigned> made, out;  // the source's, the serial stage's
    atomic<int> called, active;

    void before() {
        last.use(cells, Cells);
        for (std::uint32_t i = 0; i != Tokens; ++i) {
            next[i].store(i, std::memory_order::relaxed);
        }
        free = Tokens - 1;
        active.store(1, std::memory_order::relaxed);
    }
    void after() { require(out == Items, "each item has come out"); }

    void thread(unsigned index) {
        if (index == 0) {
            work(source);
            active.fetch_sub(1, std::memory_order::relaxed);
        }
        // A thread that is free comes, until nobody runs and nobody was called.
        while (active.load(std::memory_order::relaxed) != 0) {
            int calls = called.load(std::memory_order::relaxed);
            // acquire: as between the spawn of a task and its run.
            if (calls == 0 ||
                !called.compare_exchange_weak(calls, calls - 1, std::memory_order::acquire,
                                              std::memory_order::relaxed)) {
                policy::relax();
                continue;
            }
            work(ready.pop_or_leave(next));
            active.fetch_sub(1, std::memory_order::relaxed);
        }
    }
    void offer(std::uint32_t other) {
        if (!ready.push(other, next, Threads)) return;
        active.fetch_add(1, std::memory_order::relaxed);
        called.fetch_add(1, std::memory_order::release);
    }
    void work(std::uint32_t at) {
        for (; at != no_token; at = ready.pop_or_leave(next)) {
            while (at != no_token) at = at == source ? run_source() : finish(at);
        }
    }
    std::uint32_t run_source() {
        const std::uint32_t mine = free;
        free = returned_tokens::after(mine, next);
        if (made == Items) return no_token;
        token& t = tokens[mine];
        t.number = made.get();
        t.value = made + 100;
        made = made + 1;
        std::uint32_t more = free;
        if (more == no_token) more = returned.take_or_wait();
        if (more != no_token) {
            free = more;
            offer(source);
        }
        t.value = t.value + 100;  // the stage for any number
        return last.arrive(t.number, mine) ? finish(mine) : no_token;
    }
    std::uint32_t finish(std::uint32_t mine) {
        const token& t = tokens[mine];
        const unsigned number = t.number;
        require(number == out, "in the order of the source");
        require(t.value == number + 200, "what the stages before have made of it");
        out = out + 1;
        const std::uint32_t behind = last.pass(number + 1);
        const bool has_source = returned.give(mine, next);
        if (has_source) free = mine;
        if (behind == no_token) return has_source ? source : no_token;
        if (has_source) offer(source);
        return behind;
    }
};

/// Threads that take what is ready and put it back: nobody has what another has, nothing is lost.
template <unsigned Tokens, unsigned Threads, unsigned Rounds>
struct ready_again : rl::test_suite<ready_again<Tokens, Threads, Rounds>, Threads> {
    plain<unsigned> uses[Tokens];
    atomic<std::uint32_t> next[Tokens];
    ready_tokens ready;

    void before() {
        for (std::uint32_t i = 0; i != Tokens; ++i) ready.push(i, next, Threads);
    }
    void thread(unsigned index) {
        for (unsigned n = 0; n != Rounds; ++n) {
            const std::uint32_t first = ready.pop_or_leave(next);
            if (first == no_token) return;
            uses[first] = uses[first] + 1;
            // One thread takes two before it gives back the first of them.
            const std::uint32_t second = index == 0 ? ready.pop_or_leave(next) : no_token;
            ready.push(first, next, 0);
            if (second != no_token) ready.push(second, next, 0);
            if (index == 0 && second == no_token) return;  // it has left
        }
    }
    void after() {
        unsigned seen = 0;
        for (std::uint32_t t = ready.pop_or_leave(next); t != no_token;
             t = ready.pop_or_leave(next)) {
            require((seen >> t & 1) == 0, "ready once");
            seen |= 1U << t;
        }
        require(seen == (1U << Tokens) - 1, "nothing is lost");
    }
};

}  // namespace

int main() {
    bool good = explore_bounded<ready_again<2, 2, 2>>("pipeline: ready again", 3);
    good = good && explore_randomly<ready_again<3, 3, 3>>("pipeline: ready again", 300'000);
    good = good && explore_bounded<small_pipeline<2, 1, 1, 2>>("pipeline: one token", 3);
    good =
        good && explore_bounded<small_pipeline<2, 2, 2, 2>>("pipeline: two tokens", preemptions(2));
    good = good && explore_randomly<small_pipeline<4, 2, 2, 2>>("pipeline: two threads", 300'000);
    good = good && explore_randomly<small_pipeline<5, 3, 4, 3>>("pipeline: three threads", 300'000);
    return good ? 0 : 1;
}
