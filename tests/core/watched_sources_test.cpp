// A tag finds its source as long as that is watched, and nobody afterwards, although its place is
// used again.
#include "core/outside/watched_sources.hpp"
#include "core/outside/outside_source.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <map>
#include <random>

namespace {

using braid::memory_tag;
using braid::detail::watched_sources;

struct source final : braid::detail::outside_source {
    source() : outside_source(kind::descriptor, "source", {}) {}
    void arrived(braid::detail::runtime&, braid::detail::whole_seat&,
                 const braid::detail::arrival&) override {}
    void abandon() override {}
};

struct fixture : testing::Test {
    bool refuse = false;
    int requests = 0;
    braid::detail::accounted_memory memory{
        {.allocate = [](void* self, std::size_t bytes, std::size_t, memory_tag) -> void* {
             auto& own = *static_cast<fixture*>(self);
             ++own.requests;
             return own.refuse ? nullptr : std::malloc(bytes);
         },
         .release = [](void*, void* p, std::size_t, std::size_t, memory_tag) { std::free(p); },
         .user = this},
        0,
        {}};
    watched_sources watched{memory};
};
using WatchedSources = fixture;

TEST_F(WatchedSources, ATagOfAnEarlierUseOfThePlaceFindsNobody) {
    source first, second;
    const std::uint64_t before = watched.add(first);
    EXPECT_EQ(watched.find(before), &first);
    watched.remove(before);
    EXPECT_EQ(watched.find(before), nullptr);
    const std::uint64_t after = watched.add(second);
    EXPECT_EQ(static_cast<std::uint32_t>(after), static_cast<std::uint32_t>(before));
    EXPECT_EQ(watched.find(before), nullptr);
    EXPECT_EQ(watched.find(after), &second);
}

TEST_F(WatchedSources, ARenewedTagIsTheOnlyOne) {
    source one;
    const std::uint64_t before = watched.add(one), after = watched.renew(before);
    EXPECT_EQ(watched.find(before), nullptr);
    EXPECT_EQ(watched.find(after), &one);
    watched.remove(after);
    EXPECT_EQ(watched.find(after), nullptr);
}

TEST_F(WatchedSources, TagsThatNobodyWasGivenFindNobody) {
    source one;
    EXPECT_EQ(watched.find(1), nullptr);
    const std::uint64_t tag = watched.add(one);
    for (const std::uint64_t other : {tag + 1, tag + (std::uint64_t{1} << 32), UINT64_MAX}) {
        EXPECT_EQ(watched.find(other), nullptr);
    }
}

TEST_F(WatchedSources, EachOfManyIsFoundWhileOthersComeAndGo) {
    std::mt19937 random(1);
    std::deque<source> all(1000);
    std::map<std::uint64_t, source*> there;
    std::vector<std::uint64_t> gone;
    std::vector<source*> idle;
    for (source& one : all) idle.push_back(&one);
    for (int i = 0; i < 20'000; ++i) {
        if (!idle.empty() && (there.empty() || random() % 2 == 0)) {
            const std::uint64_t tag = watched.add(*idle.back());
            ASSERT_NE(tag, 0u);
            ASSERT_TRUE(there.emplace(tag, idle.back()).second) << "a tag was given twice";
            idle.pop_back();
        } else {
            const auto one = std::next(there.begin(), static_cast<long>(random() % there.size()));
            watched.remove(one->first);
            gone.push_back(one->first);
            idle.push_back(one->second);
            there.erase(one);
        }
    }
    for (const auto& [tag, one] : there) ASSERT_EQ(watched.find(tag), one);
    for (const std::uint64_t tag : gone) ASSERT_EQ(watched.find(tag), nullptr);
}

TEST_F(WatchedSources, PlacesAreUsedAgainWithoutMemory) {
    std::deque<source> all(100);
    std::vector<std::uint64_t> tags;
    for (source& one : all) tags.push_back(watched.add(one));
    const int before = requests;
    for (int round = 0; round < 10; ++round) {
        for (const std::uint64_t tag : tags) watched.remove(tag);
        tags.clear();
        for (source& one : all) tags.push_back(watched.add(one));
    }
    EXPECT_EQ(requests, before);
}

TEST_F(WatchedSources, WithoutMemoryThereIsNoTagAndTheOthersStay) {
    std::deque<source> all(100);
    std::vector<std::pair<std::uint64_t, source*>> there;
    int refused = 0;
    for (source& one : all) {
        refuse = true;
        const int before = requests;
        std::uint64_t tag = watched.add(one);
        refuse = false;
        EXPECT_EQ(tag == 0, requests != before) << "room was asked for, and refused";
        if (tag == 0) {
            ++refused;
            tag = watched.add(one);
        }
        there.emplace_back(tag, &one);
        for (const auto& [known, wanted] : there) ASSERT_EQ(watched.find(known), wanted);
    }
    EXPECT_GT(refused, 2);
}

}  // namespace
