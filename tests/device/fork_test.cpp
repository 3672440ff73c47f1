// A child of fork() has neither the threads of a processor nor its device: what tasks of its own
// submit runs at once, as in a reload's trial; a task of the parent's gets a sentence.
#include "device_fixture.hpp"
#include "fork_at_rest.hpp"
#include "misuse.hpp"

#include <functional>
#include <memory>
#include <utility>

namespace {

using namespace braid_test;
using braid::task_context;

BRAID_SCHEDULER_TEST(DeviceFork);

/// In the child, as trial.tasks() is.
braid::scheduler_options trial_options() {
    return {.name = "trial", .workers = 0, .background_threads = 0};
}

/// What a program has of one processor: numbers there, and steps that count them up, which have
/// been submitted once.
template <class Processor>
struct program {
    template <class... Options>
    explicit program(braid::scheduler& s, const Options&... o)
        : of(std::make_unique<Processor>(s, o...)),
          steps(std::make_unique<device::sequence>(*of, "steps")),
          numbers(of->buffer({.name = "numbers", .bytes = 32})) {
        EXPECT_TRUE(steps->add({.kernel = increment, .writes = {numbers}}));
        s.wait(s.spawn([&](task_context& t) { EXPECT_TRUE(of->submit(t, *steps)); }));
    }
    std::uint32_t count() { return of->template map<std::uint32_t>(numbers)[7]; }

    std::unique_ptr<Processor> of;
    std::unique_ptr<device::sequence> steps;
    device::buffer numbers;
};

/// Each kind of processor, one after the other.
template <class Body>
void with_each(braid::scheduler& s, Body&& body) {
    SCOPED_TRACE("cpu, fake, local_store");
    body(program<device::cpu>(s));
    body(program<device::fake>(s, device::fake_options{.latency = braid::microseconds(30)}));
    body(program<device::local_store>(s, device::local_store_options{.units = 2}));
}

/// Does not return.
template <class Processor>
void be_child(program<Processor>& p) {
    braid::scheduler own(trial_options());
    std::array<std::uint32_t, 8> in{1, 2, 3, 4, 5, 6, 7, 8}, out{};
    braid::task_id after;
    own.wait(own.spawn([&](task_context& t) {
        const device::ticket scaled = p.of->submit(t, {.kernel = scale_kernel,
                                                       .reads = {std::span(std::as_const(in))},
                                                       .writes = {std::span(out)},
                                                       .groups = {1},
                                                       .constants = device::bytes_of(3U)});
        BRAID_CHILD_EXPECT(scaled && out[7] == 24 && p.of->ended(scaled));
        after = own.spawn({.after = {scaled.done.task()}}, [&] { out[6] = 100; });
        BRAID_CHILD_EXPECT(
            p.of->submit(t, {.kernel = increment, .writes = {std::span(out)}, .after = {scaled}}));
        BRAID_CHILD_EXPECT(out[7] == 25);
        BRAID_CHILD_EXPECT(p.of->submit(t, *p.steps) && p.of->submit(t, *p.steps));
        BRAID_CHILD_EXPECT(p.count() == 3);
        BRAID_CHILD_EXPECT(p.steps->clear() &&
                           p.steps->add({.kernel = increment, .writes = {std::span(out)}}));
        device::sequence fresh(*p.of, "fresh");
        BRAID_CHILD_EXPECT(fresh.add({.kernel = increment, .writes = {p.numbers}, .groups = {2}}));
        BRAID_CHILD_EXPECT(p.of->submit(t, fresh) && p.of->submit(t, *p.steps));
        BRAID_CHILD_EXPECT(p.count() == 4 && out[7] == 26);
    }));
    own.wait(after);
    BRAID_CHILD_EXPECT(out[6] == 100);
    BRAID_CHILD_EXPECT(p.of->report().completed == 1 && !p.of->revive());
    _exit(0);
}

TEST_P(DeviceFork, WhatTheChildsOwnTasksSubmitRunsThereAtOnceAndTheParentSeesNothingOfIt) {
    braid::scheduler s(options());
    with_each(s, [&](auto&& p) {
        const pid_t child = fork_at_rest(s);
        if (child == 0) be_child(p);
        const int status = status_of(child);
        EXPECT_EQ(status, 0) << p.of->name() << ": " << line_of(status);
        EXPECT_EQ(p.count(), 1U);
        s.wait(s.spawn([&](task_context& t) { EXPECT_TRUE(p.of->submit(t, *p.steps)); }));
        EXPECT_EQ(p.count(), 2U);
        expect_account(p.of->report());
    });
}

TEST_P(DeviceFork, WhatIsInFlightInTheParentHoldsNothingUpInTheChild) {
    braid::scheduler s(options());
    device::fake of(s, {.hang = 1}, {.hang_after = braid::no_limit});
    device::buffer numbers = of.buffer({.name = "numbers", .bytes = 32});
    device::sequence steps(of, "steps");
    EXPECT_TRUE(steps.add({.kernel = increment, .writes = {numbers}}));
    braid::scope all(s);
    all.spawn({}, [&](task_context& t) { EXPECT_TRUE(of.submit(t, steps)); });
    work_until(s, [&] { return of.report().in_flight == 1; });
    const pid_t child = fork_at_rest(s);
    if (child == 0) {
        braid::scheduler own(trial_options());
        own.wait(own.spawn([&](task_context& t) {
            BRAID_CHILD_EXPECT(of.submit(t, steps));
            BRAID_CHILD_EXPECT(of.map<std::uint32_t>(numbers)[7] == 1);
        }));
        _exit(0);
    }
    const int status = status_of(child);
    EXPECT_EQ(status, 0) << line_of(status);
    all.cancel();
    wait_for_all(all);
}

TEST_P(DeviceFork, DestroyingAllInTheChildTouchesNothing) {
    auto s = std::make_unique<braid::scheduler>(options());
    with_each(*s, [&](auto&& p) {
        const pid_t child = fork_at_rest(*s);
        if (child == 0) {
            p.steps.reset();
            p.of.reset();
            s.reset();
            _exit(0);
        }
        EXPECT_EQ(status_of(child), 0);
        s->wait(s->spawn([&](task_context& t) { EXPECT_TRUE(p.of->submit(t, *p.steps)); }));
        EXPECT_EQ(p.count(), 2U);
    });
}

/// The scheduler has no workers, so that nobody else has a lock when a task of its own forks.
TEST(DeviceForkInATask, WhatAParentsTaskSubmitsInTheChildIsRefusedWithASentence) {
    misuse heard;
    braid::scheduler s({.workers = 0, .background_threads = 0, .assertion = heard.handler()});
    program<device::cpu> p(s);
    const auto is_child_heard = [&](int count) {
        return heard.count == count && heard.text.find("child of fork()") != std::string::npos;
    };
    s.wait(s.spawn([&](task_context& t) {
        const pid_t child = fork();
        if (child == 0) {
            BRAID_CHILD_EXPECT(!p.of->submit(t, {.kernel = nothing}) && is_child_heard(1));
            BRAID_CHILD_EXPECT(!p.of->submit(t, *p.steps) && is_child_heard(2));
            BRAID_CHILD_EXPECT(!p.of->buffer({.bytes = 8}) && is_child_heard(3));
            std::array<std::byte, 8> own{};
            BRAID_CHILD_EXPECT(!p.of->import_buffer({.memory = own}) && is_child_heard(4));
            BRAID_CHILD_EXPECT(p.of->release(p.numbers) && p.count() == 1);  // it stays
            _exit(0);
        }
        const int status = status_of(child);
        EXPECT_EQ(status, 0) << line_of(status);
        EXPECT_TRUE(p.of->submit(t, {.kernel = nothing}));
    }));
    EXPECT_EQ(heard.count, 0);
}

/// Hooks that fork when they are asked for memory of a processor, which they are with its lock.
struct forking_memory : counting_memory {
    bool forks = false;
    pid_t child = 0;
    braid::memory_hooks hooks() {
        braid::memory_hooks usual = counting_memory::hooks();
        usual.allocate = [](void* user, std::size_t bytes, std::size_t alignment,
                            braid::memory_tag tag) {
            auto& self = *static_cast<forking_memory*>(static_cast<counting_memory*>(user));
            if (tag == braid::memory_tag::device && std::exchange(self.forks, false)) {
                self.child = fork();
                if (self.child == 0) self.be_child();
            }
            return self.counting_memory::hooks().allocate(user, bytes, alignment, tag);
        };
        return usual;
    }
    std::function<void()> be_child;
};

TEST(DeviceForkInATask, ALockThatSomebodyHasAtTheForkIsNotWaitedFor) {
    forking_memory memory;
    braid::scheduler s({.workers = 0, .background_threads = 0, .memory = memory.hooks()});
    program<device::cpu> p(s);
    memory.be_child = [&] { be_child(p); };
    s.wait(s.spawn([&](task_context& t) {
        EXPECT_TRUE(p.of->submit(t, {.kernel = nothing}));
        memory.forks = true;
        EXPECT_TRUE(p.of->submit(t, {.kernel = nothing}));  // takes a second record
    }));
    ASSERT_NE(memory.child, 0);
    const int status = status_of(memory.child);
    EXPECT_EQ(status, 0) << line_of(status);
}

/// The memory of such a buffer is mapped for both processes: a child would write into its parent's.
TEST(DeviceForkStrict, TheChildLeavesBuffersAloneWhoseMemoryIsTheProcessors) {
    misuse heard;
    braid::scheduler s({.workers = 0, .background_threads = 0, .assertion = heard.handler()});
    program<device::local_store> p(s, device::local_store_options{.strict = true});
    const pid_t child = fork_at_rest(s);
    if (child == 0) {
        braid::scheduler own(trial_options());
        std::array<std::uint32_t, 8> out{};
        bool went_on = false;
        own.wait(own.spawn([&](task_context& t) {
            const device::ticket left = p.of->submit(t, *p.steps);
            BRAID_CHILD_EXPECT(left && heard.count == 0);
            BRAID_CHILD_EXPECT(!p.of->submit(
                t, {.kernel = increment, .writes = {device::buffer_range{p.numbers, 32, 4}}}));
            BRAID_CHILD_EXPECT(heard.text.find("within its buffer") != std::string::npos);
            BRAID_CHILD_EXPECT(p.of->submit(
                t, {.kernel = increment, .writes = {std::span(out)}, .after = {left}}));
            went_on = out[7] == 1;
        }));
        BRAID_CHILD_EXPECT(went_on);
        BRAID_CHILD_EXPECT(p.of->map<std::uint32_t>(p.numbers).empty() && heard.count == 2);
        _exit(0);
    }
    const int status = status_of(child);
    EXPECT_EQ(status, 0) << line_of(status);
    EXPECT_EQ(p.count(), 1U);
}

#if BRAID_HAS_EXCEPTIONS
TEST(DeviceForkInATask, WhatAKernelThrowsInTheChildFailsTheTask) {
    braid::scheduler s({.workers = 0, .background_threads = 0});
    program<device::cpu> p(s);
    const pid_t child = fork_at_rest(s);
    if (child == 0) {
        braid::scheduler own(trial_options());
        braid::future<void> failed =
            own.async({}, [&](task_context& t) { p.of->submit(t, {.kernel = throwing}); });
        BRAID_CHILD_EXPECT(code_of(std::move(failed)) == -2);
        _exit(0);
    }
    const int status = status_of(child);
    EXPECT_EQ(status, 0) << line_of(status);
}
#endif

}  // namespace
