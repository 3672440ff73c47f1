// Where processors lie: distances, and the order of pinning.
#include "base/topology.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace {

using braid::topology;

std::unique_ptr<topology> synthetic(const char* description) {
    auto machine = std::make_unique<topology>();
    if (!read_topology(*machine, description)) return nullptr;
    return machine;
}

std::vector<unsigned> pin_order(const topology& machine, unsigned processors) {
    braid::platform::core_set allowed;
    for (unsigned i = 0; i < processors; ++i) allowed.words[i / 64] |= std::uint64_t{1} << i % 64;
    std::uint16_t order[topology::capacity];
    const std::size_t count = machine.pin_order(allowed, order);
    return {order, order + count};
}

TEST(Topology, DistancesFollowCoresCachesAndMemory) {
    // Processors 0, 1 on a core; 0..3 below a cache; 0..7 at a memory.
    const auto machine = synthetic("node:2 l3:2 core:2 pu:2");
    if (machine == nullptr) GTEST_SKIP() << "built without hwloc";
    EXPECT_EQ(machine->levels, 3U);
    EXPECT_EQ(machine->distance(0, 0), 0U);
    EXPECT_EQ(machine->distance(0, 1), 0U);
    EXPECT_EQ(machine->distance(0, 2), 1U);
    EXPECT_EQ(machine->distance(0, 3), 1U);
    EXPECT_EQ(machine->distance(0, 4), 2U);
    EXPECT_EQ(machine->distance(7, 8), 3U);
    EXPECT_EQ(machine->distance(15, 0), 3U);
    EXPECT_EQ(machine->distance(0, 1000), 0U) << "not known: near";
    EXPECT_EQ(machine->distance(UINT32_MAX, 0), 0U);
}

TEST(Topology, AMachineOfEqualsHasNothingToChoose) {
    EXPECT_EQ(std::make_unique<topology>()->levels, 0U);
    const auto machine = synthetic("core:1 pu:2");
    if (machine == nullptr) GTEST_SKIP() << "built without hwloc";
    EXPECT_EQ(machine->levels, 0U);
    EXPECT_FALSE(machine->slow(0));
}

TEST(Topology, AnImpossibleDescriptionIsRefused) {
    auto machine = std::make_unique<topology>();
    EXPECT_FALSE(read_topology(*machine, "pudding:2"));
    EXPECT_EQ(machine->levels, 0U);
}

TEST(Topology, ThreadsArePinnedToWholeCoresBeforeSiblings) {
    const auto machine = synthetic("l3:2 core:2 pu:2");
    if (machine == nullptr) GTEST_SKIP() << "built without hwloc";
    EXPECT_EQ(pin_order(*machine, 8), (std::vector<unsigned>{0, 2, 4, 6, 1, 3, 5, 7}));
    EXPECT_EQ(pin_order(*machine, 3), (std::vector<unsigned>{0, 2, 1})) << "only allowed ones";
}

TEST(Topology, ThreadsArePinnedToFastCoresFirstAndSlowOnesAreKnown) {
    // As a hybrid processor: four slow cores that share a cache, then two fast ones of two threads.
    auto machine = std::make_unique<topology>();
    for (std::uint16_t i = 0; i < 4; ++i) machine->processors[i] = {i, 1, 0, 0, true};
    for (std::uint16_t i = 4; i < 8; ++i) {
        machine->processors[i] = {static_cast<std::uint16_t>(10 + i / 2), 2, 0, 1, true};
    }
    machine->summarize();
    EXPECT_EQ(pin_order(*machine, 8), (std::vector<unsigned>{4, 6, 5, 7, 0, 1, 2, 3}));
    EXPECT_TRUE(machine->slow(0));
    EXPECT_FALSE(machine->slow(4));
    EXPECT_EQ(machine->levels, 2U);
}

TEST(Topology, WithoutKnowledgeTheSystemsNumbersAreTheOrder) {
    EXPECT_EQ(pin_order(*std::make_unique<topology>(), 3), (std::vector<unsigned>{0, 1, 2}));
}

TEST(Topology, ThisMachineIsReadOnce) {
    const topology* const machine = braid::machine_topology();
    EXPECT_EQ(machine, braid::known_topology());
    if (machine == nullptr) GTEST_SKIP() << "built without hwloc, or it cannot read this machine";
    EXPECT_TRUE(machine->processors[braid::platform::current_core()].known);
    EXPECT_EQ(machine, braid::machine_topology());
}

}  // namespace
