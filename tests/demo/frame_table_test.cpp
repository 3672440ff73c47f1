// The frame table promises that only `after` matters: any order that respects it, with the parts of
// a stage in any order, ends in the same state, picture and sound.
#include "game.hpp"
#include "render/kernels.hpp"
#include "render/renderer.hpp"
#include "small_model.hpp"
#include "sound/mixer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace arena;

namespace {

constexpr std::size_t guard_bytes = 256;
constexpr std::byte guard{0xa7};

class small_world {
public:
    explicit small_world(std::uint64_t seed) {
        const std::span<const std::byte> models[] = {model_.bytes()};
        const game_setup setup{.characters = 70,
                               .seed = seed,
                               .models = models,
                               .picture = &picture_,
                               .sound = &output_};
        bytes_ = api_.scratch_size(setup);
        memory_.resize((bytes_ + guard_bytes) / sizeof(line) + 1);
        std::fill(block() + bytes_, block() + bytes_ + guard_bytes, guard);
        game_ = api_.create(setup, state_);
        api_.use_scratch(*game_, {block(), bytes_});
    }

    /// Runs the stages in `order`, the parts as `shuffle` leaves them.
    template <class Shuffle>
    void run_frame(const std::vector<std::size_t>& order, Shuffle shuffle) {
        api_.begin_frame(*game_, {});
        for (std::size_t row : order) {
            std::vector<std::uint32_t> parts(api_.stages[row].parts(*game_));
            std::iota(parts.begin(), parts.end(), 0u);
            shuffle(parts);
            for (std::uint32_t part : parts) api_.stages[row].run(*game_, part);
        }
        hash_ = api_.hash(*game_);
    }

    /// Rows that state their work as data run by pieces of so many bytes, one after the other.
    void run_frame_in_pieces(std::size_t most_bytes) {
        struct target {
            const kernel* work;
            std::size_t largest;  // output of a piece, in bytes
        };
        const auto take = [](void* data, const kernel_work& piece) {
            target& t = *static_cast<target*>(data);
            t.largest = std::max(t.largest, piece.writes.size());
            for (std::uint32_t group = 0; group < piece.groups; ++group) t.work->run(piece, group);
        };
        api_.begin_frame(*game_, {});
        for (const stage& row : api_.stages) {
            if (row.as_data != nullptr) {
                target to{row.as_data, 0};
                row.as_data->pieces(*game_, most_bytes, take, &to);
                const std::size_t least = row.as_data == &skin_kernel
                                              ? least_skin_piece * sizeof(skinned_vertex)
                                              : sizeof(light_list);
                if (most_bytes != 0) {
                    EXPECT_LE(to.largest, std::max(most_bytes, least)) << row.name;
                }
                continue;
            }
            const std::uint32_t parts = row.parts(*game_);
            for (std::uint32_t part = 0; part < parts; ++part) row.run(*game_, part);
        }
        hash_ = api_.hash(*game_);
    }

    std::uint64_t hash() const { return hash_; }
    /// After a frame: the first operand of a piece without a limit that lies in no array, or at no
    /// multiple of the alignment from its begin; the models are not aligned here. "": none does.
    std::string operands_apart(const kernel& work) {
        struct target {
            std::vector<std::span<std::byte>> arrays;
            std::string apart;
        } to;
        work.arrays(
            *game_,
            [](void* data, std::span<std::byte> one) {
                static_cast<target*>(data)->arrays.push_back(one);
            },
            &to);
        const auto take = [](void* data, const kernel_work& piece) {
            target& t = *static_cast<target*>(data);
            const auto look = [&t](std::span<const std::byte> operand, const std::string& name) {
                for (const std::span<const std::byte> all : t.arrays) {
                    if (operand.data() < all.data() || operand.data() >= all.data() + all.size()) {
                        continue;
                    }
                    const auto offset = static_cast<std::size_t>(operand.data() - all.data());
                    if (offset + operand.size() <= all.size() && offset % array_alignment == 0) {
                        return;
                    }
                }
                t.apart = name;
            };
            for (std::uint32_t i = 0; i < piece.read_count; ++i) {
                look(piece.reads[i], "input " + std::to_string(i));
            }
            look(piece.writes, "the output");
        };
        work.pieces(*game_, 0, take, &to);
        return to.apart;
    }
    bool stayed_inside() {
        return std::all_of(block() + bytes_, block() + bytes_ + guard_bytes,
                           [](std::byte b) { return b == guard; });
    }

private:
    struct alignas(64) line {
        std::byte bytes[64];
    };
    std::byte* block() { return reinterpret_cast<std::byte*>(memory_.data()); }

    const game_api api_ = arena_game_api();
    small_model model_;
    renderer picture_{{.width = 320, .height = 200}};
    mixer sound_;
    sound_output output_{arena_sound_api(), &sound_};
    game_state state_;
    std::size_t bytes_ = 0;
    std::vector<line> memory_;
    game* game_ = nullptr;
    std::uint64_t hash_ = 0;
};

std::vector<std::size_t> table_order() {
    std::vector<std::size_t> order(arena_game_api().stages.size());
    std::iota(order.begin(), order.end(), 0u);
    return order;
}

// A random order in which every stage comes after its predecessors.
std::vector<std::size_t> random_order(std::mt19937& random) {
    const auto stages = arena_game_api().stages;
    std::vector<std::size_t> order;
    std::vector<bool> done(stages.size(), false);
    while (order.size() < stages.size()) {
        std::vector<std::size_t> ready;
        for (std::size_t i = 0; i < stages.size(); ++i)
            if (!done[i] && std::all_of(stages[i].after.begin(), stages[i].after.end(),
                                        [&](std::uint8_t earlier) { return done[earlier]; }))
                ready.push_back(i);
        order.push_back(ready[random() % ready.size()]);
        done[order.back()] = true;
    }
    return order;
}

constexpr int frames = 5;

std::uint64_t hash_in_table_order(std::uint64_t seed) {
    small_world world(seed);
    for (int i = 0; i < frames; ++i) world.run_frame(table_order(), [](auto&) {});
    EXPECT_TRUE(world.stayed_inside());
    return world.hash();
}

}  // namespace

TEST(FrameTable, EveryOrderThatItAllowsEndsInOneHash) {
    const std::uint64_t expected = hash_in_table_order(1);
    for (unsigned seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        small_world world(1);
        for (int i = 0; i < frames; ++i)
            world.run_frame(random_order(random), [&](std::vector<std::uint32_t>& parts) {
                std::shuffle(parts.begin(), parts.end(), random);
            });
        EXPECT_EQ(world.hash(), expected) << "order " << seed;
        EXPECT_TRUE(world.stayed_inside());
    }
}

// Where next to nothing fits, a piece is the least that there can be.
TEST(FrameTable, PiecesOfAnySizeEndInOneHash) {
    const std::uint64_t expected = hash_in_table_order(1);
    for (const std::size_t most_bytes : {0u, 1u, 2'000u, 20'000u, 1u << 20}) {
        SCOPED_TRACE(most_bytes);
        small_world world(1);
        for (int i = 0; i < frames; ++i) world.run_frame_in_pieces(most_bytes);
        EXPECT_EQ(world.hash(), expected);
        EXPECT_TRUE(world.stayed_inside());
    }
}

TEST(FrameTable, EachOperandWithoutALimitBeginsInAnArrayWhereAProcessorWantsIt) {
    small_world world(1);
    world.run_frame(table_order(), [](auto&) {});
    for (const stage& row : arena_game_api().stages) {
        if (row.as_data == nullptr) continue;
        EXPECT_EQ(world.operands_apart(*row.as_data), "") << row.name;
    }
}

TEST(FrameTable, AnotherSeedEndsInAnotherHash) {
    EXPECT_NE(hash_in_table_order(1), hash_in_table_order(2));
}
