// The flat model format: what the checker lets through, the game may read.
#include "host/import/model_fault.hpp"
#include "small_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace arena;
using import::find_model_fault;

namespace {

template <class Change>
bool refused_after(Change change, bool seal = true) {
    small_model model;
    change(model.get());
    if (seal) model.seal();
    return find_model_fault(model.bytes()) != nullptr;
}

using content = small_model::content;

}  // namespace

TEST(Model, AWholeBlockIsAccepted) {
    small_model model;
    EXPECT_EQ(find_model_fault(model.bytes()), nullptr);
}

TEST(Model, EveryPrefixIsRefused) {
    small_model model;
    for (std::size_t size = 0; size < model.bytes().size(); ++size)
        EXPECT_NE(find_model_fault(model.bytes().first(size)), nullptr) << size;
}

TEST(Model, EveryFlippedByteIsRefused) {
    for (std::size_t at = 0; at < sizeof(content); ++at)
        EXPECT_TRUE(refused_after(
            [at](content& c) { reinterpret_cast<unsigned char*>(&c)[at] ^= 0x40; }, false))
            << at;
}

TEST(Model, ReferencesOutsideOfTheBlockAreRefused) {
    EXPECT_TRUE(refused_after([](content& c) { c.indices[2] = 3; }));
    EXPECT_TRUE(refused_after([](content& c) { c.parent = 0; }));
    EXPECT_TRUE(refused_after([](content& c) { c.palette.joint = 1; }));
    EXPECT_TRUE(refused_after([](content& c) { c.vertices[1].bones[3] = 1; }));
    EXPECT_TRUE(refused_after([](content& c) { c.clip.frame_count = 3; }));
    EXPECT_TRUE(refused_after([](content& c) { c.clip.first_pose = 0xffffffff; }));
    EXPECT_TRUE(refused_after([](content& c) { c.header.lods[1].first_vertex = 0xfffffffe; }));
    EXPECT_TRUE(refused_after([](content& c) { c.header.poses_at = 0xfffffff0; }));
    EXPECT_TRUE(refused_after([](content& c) { c.header.vertex_count = 0x10000000; }));
    EXPECT_TRUE(refused_after([](content& c) { c.header.indices_at += 1; }));
}

TEST(Model, ValuesThatAreNoNumbersAreRefused) {
    constexpr float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(refused_after([](content& c) { c.vertices[0].position[1] = nan; }));
    EXPECT_TRUE(refused_after([](content& c) { c.poses[1].rotation[0] = nan; }));
    EXPECT_TRUE(refused_after([](content& c) { c.palette.inverse_bind[7] = INFINITY; }));
    EXPECT_TRUE(refused_after([](content& c) { c.clip.speed = nan; }));
    EXPECT_TRUE(refused_after([](content& c) { c.header.height = 0; }));
}

TEST(Model, WeightsThatDoNotAddUpAreRefused) {
    EXPECT_TRUE(refused_after([](content& c) { c.vertices[0].weights[1] = 1; }));
}
