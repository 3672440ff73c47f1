// C30: the one door for memory.
#include "base/accounted_memory.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace {

using braid::memory_tag;
using braid::detail::accounted_memory;

struct ledger {
    struct block {
        std::size_t bytes, alignment;
        memory_tag tag;
    };
    std::map<void*, block> live;
    int releases = 0;
    bool empty_handed = false;

    braid::memory_hooks hooks() {
        return {
            .allocate =
                [](void* user, std::size_t bytes, std::size_t alignment, memory_tag tag) {
                    auto& self = *static_cast<ledger*>(user);
                    if (self.empty_handed) return static_cast<void*>(nullptr);
                    void* p = ::operator new(bytes, std::align_val_t{alignment});
                    self.live[p] = {bytes, alignment, tag};
                    return p;
                },
            .release =
                [](void* user, void* p, std::size_t bytes, std::size_t alignment, memory_tag tag) {
                    auto& self = *static_cast<ledger*>(user);
                    ++self.releases;
                    ASSERT_EQ(self.live.count(p), 1U);
                    const block b = self.live[p];
                    EXPECT_EQ(b.bytes, bytes);
                    EXPECT_EQ(b.alignment, alignment);
                    EXPECT_EQ(b.tag, tag);
                    self.live.erase(p);
                    ::operator delete(p, std::align_val_t{alignment});
                },
            .user = this};
    }
};

struct refusals {
    std::size_t bytes = 0;
    int calls = 0;
    std::string what;

    braid::out_of_memory_handler handler() {
        return {[](void* user, std::size_t wanted, const char* tag) {
                    auto& self = *static_cast<refusals*>(user);
                    ++self.calls;
                    self.bytes = wanted;
                    self.what = tag;
                },
                this};
    }
};

TEST(AccountedMemory, CountsBytesByTag) {
    ledger user;
    accounted_memory memory(user.hooks(), 0, {});
    void* slot = memory.allocate(100, 64, memory_tag::slot);
    void* edge = memory.allocate(30, 16, memory_tag::edge);
    EXPECT_EQ(memory.bytes(memory_tag::slot), 100U);
    EXPECT_EQ(memory.bytes(memory_tag::edge), 30U);
    EXPECT_EQ(memory.bytes(memory_tag::queue), 0U);
    EXPECT_EQ(memory.allocations(), 2U);
    memory.release(slot, 100, 64, memory_tag::slot);
    memory.release(edge, 30, 16, memory_tag::edge);
    EXPECT_EQ(memory.bytes(memory_tag::slot), 0U);
    EXPECT_TRUE(user.live.empty());
}

TEST(AccountedMemory, ABudgetIsExactAndComesBackWithARelease) {
    refusals told;
    accounted_memory memory({}, 128, told.handler());
    void* whole = memory.allocate(128, 16, memory_tag::worker);
    ASSERT_NE(whole, nullptr);
    EXPECT_EQ(memory.allocate(1, 1, memory_tag::closure), nullptr);
    EXPECT_EQ(told.calls, 1);
    EXPECT_EQ(told.bytes, 1U);
    EXPECT_EQ(told.what, "closure");
    memory.release(whole, 128, 16, memory_tag::worker);
    void* again = memory.allocate(128, 16, memory_tag::worker);
    EXPECT_NE(again, nullptr);
    memory.release(again, 128, 16, memory_tag::worker);
}

TEST(AccountedMemory, AnEmptyHandedHookIsReportedAndCostsNoBudget) {
    ledger user;
    refusals told;
    accounted_memory memory(user.hooks(), 100, told.handler());
    user.empty_handed = true;
    EXPECT_EQ(memory.allocate(100, 16, memory_tag::detail), nullptr);
    EXPECT_EQ(told.calls, 1);
    user.empty_handed = false;
    void* p = memory.allocate(100, 16, memory_tag::detail);
    EXPECT_NE(p, nullptr);
    memory.release(p, 100, 16, memory_tag::detail);
}

TEST(AccountedMemory, ReleasingNothingCallsNoHookAndGivesNoBudgetBack) {
    ledger user;
    accounted_memory memory(user.hooks(), 64, {});
    void* p = memory.allocate(64, 16, memory_tag::slot);
    ASSERT_NE(p, nullptr);
    memory.release(nullptr, 64, 8, memory_tag::slot);
    EXPECT_EQ(user.releases, 0);
    EXPECT_EQ(memory.bytes(memory_tag::slot), 64U);
    EXPECT_EQ(memory.allocate(1, 1, memory_tag::slot), nullptr) << "the budget is spent";
    memory.release(p, 64, 16, memory_tag::slot);
    EXPECT_EQ(user.releases, 1);
}

}  // namespace
