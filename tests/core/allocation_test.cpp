// C1, I7: nothing allocates per task in steady state, neither through the hooks nor beside them.
#include "scale.hpp"
#include "scheduler_test.hpp"

#include <array>
#include <new>

namespace {

std::atomic<std::uint64_t> news{0};

[[gnu::noinline]] void* counted_allocation(std::size_t bytes, std::size_t alignment) noexcept {
    news.fetch_add(1, std::memory_order_relaxed);
    bytes = (bytes + alignment - 1) / alignment * alignment;
    return std::aligned_alloc(alignment, bytes == 0 ? alignment : bytes);
}
[[gnu::noinline]] void* counted_or_throw(std::size_t bytes, std::size_t alignment) {
    void* p = counted_allocation(bytes, alignment);
    if (p == nullptr) throw std::bad_alloc();
    return p;
}

[[gnu::noinline]] void give_back(void* p) noexcept { std::free(p); }

}  // namespace

void* operator new(std::size_t bytes) { return counted_or_throw(bytes, 16); }
void* operator new[](std::size_t bytes) { return counted_or_throw(bytes, 16); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return counted_allocation(bytes, 16);
}
void* operator new(std::size_t bytes, std::align_val_t a) {
    return counted_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new[](std::size_t bytes, std::align_val_t a) {
    return counted_or_throw(bytes, static_cast<std::size_t>(a));
}
void* operator new(std::size_t bytes, std::align_val_t a, const std::nothrow_t&) noexcept {
    return counted_allocation(bytes, static_cast<std::size_t>(a));
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }

namespace {

class Allocation : public braid_test::scheduler_test {
protected:
    /// Steady: 20 rounds in a row without an allocation. Pools grow until every thread's cache is
    /// filled; a pool that goes on growing with the number of tasks never gets there.
    template <class Round>
    void expect_steady_state(Round&& round) {
        int quiet = 0;
        for (int i = 0; i < 2000 && quiet < 20; ++i) {
            const std::uint64_t hooks = memory_.calls;
            const std::uint64_t others = news;
            round();
            quiet = hooks == memory_.calls && others == news ? quiet + 1 : 0;
        }
        EXPECT_EQ(quiet, 20) << "still allocating after 2000 rounds";
    }
};
INSTANTIATE_TEST_SUITE_P(Workers, Allocation, testing::ValuesIn(braid_test::worker_counts()),
                         [](const auto& count) { return std::to_string(count.param); });

TEST_P(Allocation, TheCounterSeesAnAllocation) {
    const std::uint64_t before = news;
    const auto p = std::make_unique<int>(1);
    EXPECT_EQ(news, before + 1) << *p;
}

TEST_P(Allocation, SpawnAndWaitOfASmallClosureAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<std::uint64_t> sum{0};
    expect_steady_state([&] {
        for (int i = 0; i < 50; ++i) {
            const std::array<std::uint64_t, 5> data{1, 2, 3, 4, 5};
            const auto body = [&sum, data] { sum += data[4]; };
            static_assert(sizeof body == 48);
            s.wait(s.spawn(body));
        }
    });
}

TEST_P(Allocation, PostAndScopeAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<int> sum{0};
    braid::scope all(s);
    expect_steady_state([&] {
        for (int i = 0; i < 100; ++i) all.post([&sum] { ++sum; });
        all.wait();
    });
}

TEST_P(Allocation, EdgesJoinsAndParentsAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<int> sum{0};
    expect_steady_state([&] {
        std::array<braid::task_id, 16> ids;
        for (auto& id : ids) id = s.spawn([&sum] { ++sum; });
        const braid::task_id join = s.spawn({.after_all = ids}, braid::empty);
        const braid::task_id parent = s.spawn({.after = {join}}, [&sum](braid::task_context& task) {
            for (int i = 0; i < 8; ++i) task.spawn_child([&sum] { ++sum; });
        });
        s.wait(s.spawn({.after_any = {parent}}, [&sum] { ++sum; }));
    });
}

TEST_P(Allocation, WaitsInsideTasksBatchesFuturesAndEventsAllocateNothing) {
    braid::scheduler s(options());
    std::atomic<int> sum{0};
    braid::event happened(s);
    expect_steady_state([&] {
        s.wait(s.spawn([&](braid::task_context& task) {
            const braid::task_id inner = task.spawn([&sum] { ++sum; });
            task.wait(inner);
        }));
        s.wait(s.spawn_batch({}, 32, [&sum](std::size_t) { ++sum; }));
        sum += s.async([] { return 1; }).then([](int i) { return i + 1; }).get();
        s.post([&happened] { happened.set(); });
        s.do_work_while_waiting_for(happened);
    });
}

}  // namespace
