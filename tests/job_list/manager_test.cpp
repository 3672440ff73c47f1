// G6: allocating, naming, finding and freeing lists; limits and lack of memory.
#include "job_list/job_list_state.hpp"
#include "job_list_fixture.hpp"

#include <memory>

namespace {

using braid_test::add_one;
using braid_test::do_nothing;

BRAID_JOB_LIST_TEST(JobManager);

TEST_P(JobManager, TheThirtyThirdListIsRefusedAndLeavesTheOthersAlone) {
    engine e(strict());
    std::vector<braid::job_list*> all;
    std::atomic<int> ran{0};
    for (unsigned i = 0; i < braid::job_list_manager::max_lists; ++i) {
        EXPECT_EQ(e.lists.list_count(), i);
        EXPECT_EQ(e.lists.free_count(), 32 - i);
        all.push_back(e.lists.allocate({.max_jobs = 2}));
        ASSERT_NE(all.back(), nullptr);
        all.back()->add(&add_one, &ran);
        all.back()->submit();
    }
    EXPECT_EQ(e.lists.allocate(), nullptr);
    EXPECT_EQ(reported_.text, "at most 32 job lists; free one, or let jobs of two share a list");
    EXPECT_EQ(reported_.count, 1);
    e.lists.wait_all();
    EXPECT_EQ(ran, 32);
    e.lists.free(all[7]);
    EXPECT_EQ(e.lists.list_count(), 31U);
    braid::job_list* again = e.lists.allocate();
    ASSERT_NE(again, nullptr);
    EXPECT_EQ(again->id(), 7U) << "the lowest that is free";
    again->add(&add_one, &ran);
    again->submit();
    again->wait();
    EXPECT_EQ(ran, 33);
}

TEST_P(JobManager, ListsHaveWhatTheyWereGivenAndAreFoundByIt) {
    engine e(strict());
    braid::job_list* b = e.lists.allocate({.id = 9,
                                           .name = "render",
                                           .colour = 0x2040ff,
                                           .priority = braid::priority_level::high,
                                           .max_jobs = 77,
                                           .max_syncs = 3});
    braid::job_list* a = e.lists.allocate({.id = 2});
    braid::job_list* c = e.lists.allocate({.name = nullptr, .max_syncs = 0});
    EXPECT_EQ(b->id(), 9U);
    EXPECT_STREQ(b->name(), "render");
    EXPECT_EQ(b->colour(), 0x2040ffU);
    EXPECT_EQ(b->priority(), braid::priority_level::high);
    EXPECT_EQ(b->max_jobs(), 77U);
    EXPECT_EQ(b->max_syncs(), 3U);
    EXPECT_STREQ(c->name(), "job list");
    EXPECT_EQ(c->id(), 0U);
    EXPECT_FALSE(c->signal()) << "it has no room for any";
    EXPECT_EQ(e.lists.list(0), c);
    EXPECT_EQ(e.lists.list(1), a);
    EXPECT_EQ(e.lists.list(2), b);
    EXPECT_EQ(e.lists.list(3), nullptr);
    EXPECT_EQ(e.lists.list(1'000), nullptr);
    EXPECT_EQ(e.lists.find(9), b);
    EXPECT_EQ(e.lists.find(3), nullptr);
    reported_ = {};
    EXPECT_EQ(e.lists.allocate({.id = 9}), nullptr);
    EXPECT_EQ(reported_.text, "another job list has this id; give each its own");
    EXPECT_EQ(e.lists.allocate({.max_jobs = 0}), nullptr);
    EXPECT_EQ(reported_.text, "max_jobs is 1 to 2^30");
    EXPECT_EQ(e.lists.allocate({.max_jobs = UINT32_MAX}), nullptr);
    EXPECT_EQ(e.lists.allocate({.max_syncs = UINT32_MAX}), nullptr);
    EXPECT_EQ(reported_.count, 4);
    e.lists.free(a);
    EXPECT_EQ(e.lists.list(1), b);
    EXPECT_EQ(e.lists.find(2), nullptr);
}

TEST_P(JobManager, RegistersEachFunctionOnceUnderItsFirstName) {
    engine e(strict());
    EXPECT_STREQ(e.lists.name_of(&add_one), "add one");
    EXPECT_TRUE(e.lists.register_job(&add_one, "another name"));
    EXPECT_STREQ(e.lists.name_of(&add_one), "add one");
    EXPECT_EQ(e.lists.name_of(nullptr), nullptr);
    constexpr braid::job_function unknown = [](void*) {};
    EXPECT_EQ(e.lists.name_of(unknown), nullptr);
    EXPECT_FALSE(e.lists.register_job(nullptr, "nothing"));
    EXPECT_EQ(reported_.text, "give a function");
    EXPECT_FALSE(e.lists.register_job(unknown, nullptr));
    EXPECT_EQ(reported_.text, "give the job a name");
    EXPECT_FALSE(e.lists.register_job(unknown, ""));
    EXPECT_EQ(reported_.count, 3);
}

// Any number of different functions.
template <int N>
void numbered(void* data) {
    *static_cast<int*>(data) += N;
}
template <int... N>
void register_all(braid::job_list_manager& lists, int& taken, std::integer_sequence<int, N...>) {
    constexpr braid::job_function all[] = {&numbered<N>...};
    for (const braid::job_function f : all) taken += lists.register_job(f, "numbered");
}

TEST_P(JobManager, TakesSoManyFunctionsAndRefusesFurtherOnes) {
    braid::scheduler s(strict());
    braid::job_list_manager lists(s);
    int taken = 0;
    register_all(lists, taken, std::make_integer_sequence<int, 300>());
    EXPECT_EQ(taken, static_cast<int>(braid::job_list_manager::max_functions));
    EXPECT_EQ(reported_.count, 300 - taken);
    EXPECT_EQ(reported_.text,
              "at most 256 job functions; let several share one that looks at its data");
    EXPECT_STREQ(lists.name_of(&numbered<255>), "numbered");
    EXPECT_EQ(lists.name_of(&numbered<256>), nullptr);
    EXPECT_TRUE(lists.register_job(&numbered<0>, "again")) << "it is registered already";
    braid::job_list* l = lists.allocate();
    int sum = 0;
    EXPECT_TRUE(l->add(&numbered<3>, &sum));
    EXPECT_TRUE(l->add(&numbered<200>, &sum));
    EXPECT_FALSE(l->add(&numbered<299>, &sum));
    l->submit({.parallelism = 1});
    l->wait();
    EXPECT_EQ(sum, 203);
}

TEST_P(JobManager, FreesListsAfterTheirSubmission) {
    std::atomic<int> ran{0};
    {
        engine e(strict());
        braid::job_list* l = e.lists.allocate();
        for (int i = 0; i < 100; ++i) l->add(&add_one, &ran);
        l->submit();
        e.lists.free(l);
        EXPECT_EQ(ran, 100);
        e.lists.free(l);
        EXPECT_EQ(reported_.text, "free() takes lists of this manager, each once");
        e.lists.free(nullptr);
        EXPECT_EQ(reported_.count, 1);

        braid::job_list* inside = e.lists.allocate();
        e.with.add(inside, [&] { e.lists.free(inside); });
        inside->submit();
        inside->wait();
        EXPECT_EQ(reported_.count, 2) << "by one of its jobs";
        EXPECT_EQ(e.lists.find(inside->id()), inside);

        l = e.lists.allocate();
        for (int i = 0; i < 100; ++i) l->add(&add_one, &ran);
        l->submit();
        inside->add(&do_nothing, nullptr);  // never submitted: dropped
    }
    EXPECT_EQ(ran, 200) << "the manager waits, too";
}

TEST_P(JobManager, FirstJobsSeeTheirListSubmitted) {
    engine e(options());
    braid::job_list* l = e.lists.allocate();
    constexpr int rounds = 500;
    int right = 0;
    for (int round = 0; round < rounds; ++round) {
        braid::task_id seen;
        e.with.add(l, [&] { seen = l->submission(); });
        const braid::task_id submitted = l->submit();  // a worker may begin before it returns
        l->wait();
        right += submitted && seen == submitted;
    }
    EXPECT_EQ(right, rounds);
}

TEST_P(JobManager, AccountsForItsMemory) {
    braid::scheduler s(options());
    {
        braid::job_list_manager lists(s);
        const std::size_t without = s.bytes(braid::memory_tag::job_list);
        EXPECT_GT(without, 0U);
        braid::job_list* small = lists.allocate({.max_jobs = 1});
        const std::size_t with_small = s.bytes(braid::memory_tag::job_list);
        braid::job_list* large = lists.allocate({.max_jobs = 1001});
        EXPECT_EQ(s.bytes(braid::memory_tag::job_list) - with_small, with_small - without + 16'000);
        lists.free(small);
        lists.free(large);
        EXPECT_EQ(s.bytes(braid::memory_tag::job_list), without);
    }
    EXPECT_EQ(s.bytes(braid::memory_tag::job_list), 0U);
}

/// Gives memory until `none` is set.
struct scarce_memory {
    braid_test::counting_memory counted;
    std::atomic<bool> none{false};

    braid::memory_hooks hooks() {
        return {.allocate = [](void* user, std::size_t bytes, std::size_t alignment,
                               braid::memory_tag tag) -> void* {
                    auto& self = *static_cast<scarce_memory*>(user);
                    if (self.none) return nullptr;
                    const braid::memory_hooks h = self.counted.hooks();
                    return h.allocate(h.user, bytes, alignment, tag);
                },
                .release =
                    [](void* user, void* p, std::size_t bytes, std::size_t alignment,
                       braid::memory_tag tag) {
                        const braid::memory_hooks h =
                            static_cast<scarce_memory*>(user)->counted.hooks();
                        h.release(h.user, p, bytes, alignment, tag);
                    },
                .user = this};
    }
};

TEST_P(JobManager, WithoutMemoryListsAreRefused) {
    scarce_memory memory;
    std::atomic<int> reported{0};
    braid::scheduler_options o = options();
    o.memory = memory.hooks();
    o.out_of_memory = {[](void* user, std::size_t, const char* what) {
                           EXPECT_STREQ(what, "job_list");
                           ++*static_cast<std::atomic<int>*>(user);
                       },
                       &reported};
    {
        braid::scheduler s(o);
        memory.none = true;
        {
            braid::job_list_manager nothing(s);
            EXPECT_EQ(reported, 1);
            EXPECT_FALSE(nothing.register_job(&add_one, "add one"));
            EXPECT_EQ(nothing.name_of(&add_one), nullptr);
            EXPECT_EQ(nothing.allocate(), nullptr);
            EXPECT_EQ(nothing.list_count(), 0U);
            EXPECT_EQ(nothing.list(0), nullptr);
            EXPECT_EQ(nothing.find(0), nullptr);
            nothing.free(nullptr);
            nothing.wait_all();
        }
        memory.none = false;
        braid::job_list_manager lists(s);
        lists.register_job(&add_one, "add one");
        memory.none = true;
        EXPECT_EQ(lists.allocate(), nullptr);
        EXPECT_EQ(reported, 2);
        EXPECT_EQ(lists.list_count(), 0U);
        memory.none = false;
        EXPECT_NE(lists.allocate(), nullptr);
    }
    EXPECT_EQ(memory.counted.live, 0);
}

TEST_P(JobManager, WithoutMemoryForTasksASubmissionIsRefusedOrHasFewerThreads) {
    scarce_memory memory;
    braid::scheduler_options o = options();
    o.memory = memory.hooks();
    {
        engine e(o);
        braid::job_list* l = e.lists.allocate();
        std::atomic<int> ran{0};
        const auto fill = [&] {
            for (int i = 0; i < 10; ++i) {
                l->add(&add_one, &ran);
                l->signal();
                for (int n = 0; n < 10; ++n) l->add(&add_one, &ran);
                l->synchronize();
            }
        };
        fill();
        // Slots are taken until there are none, by tasks that wait for one that is held.
        braid::task_builder gate = e.s.begin({}, braid::empty);
        std::vector<braid::task_id> taken;
        memory.none = true;
        while (const braid::task_id id = e.s.spawn({.after = {gate.id()}}, [] {})) {
            taken.push_back(id);
            ASSERT_LT(taken.size(), 1'000'000U);
        }
        EXPECT_FALSE(l->submit({.parallelism = 4}));
        EXPECT_FALSE(l->submit({.parallelism = 0}));
        EXPECT_FALSE(l->is_submitted());
        EXPECT_EQ(l->size(), 110U) << "nothing is lost";
        gate.finish();
        for (const braid::task_id id : taken) e.s.wait(id);
        memory.none = false;
        EXPECT_TRUE(l->submit({.parallelism = 4}));
        l->wait();
        EXPECT_EQ(ran, 110);
    }
    EXPECT_EQ(memory.counted.live, 0);
}

TEST(JobNames, AreFoundOrMissedAlsoIfAllBeginAtEvenPlaces) {
    const auto empty = std::make_unique<braid::detail::job_names>();
    const auto names = std::make_unique<braid::detail::job_names>();
    std::uintptr_t address = 0;
    const auto next = [&] {
        braid::job_function f = nullptr;
        do {
            address += 16;
            f = reinterpret_cast<braid::job_function>(address);
        } while (empty->find(f) % 2 != 0);
        return f;
    };
    for (unsigned i = 0; i < braid::job_list_manager::max_functions; ++i) {
        const braid::job_function f = next();
        ASSERT_TRUE(names->add(f, "name"));
        ASSERT_STREQ(names->name_of(f), "name");
    }
    EXPECT_EQ(names->name_of(next()), nullptr);
    EXPECT_FALSE(names->add(next(), "one more"));
}

}  // namespace
