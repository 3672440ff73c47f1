// A seed decides what frames want and use, which reads fail, and who goes on when.
#include <braid/pages/page_cache.hpp>

#include "pack_file.hpp"
#include "scale.hpp"
#include "scheduler_test.hpp"
#include "seeded_chooser.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <random>
#include <string>

namespace {

using braid::page_id;
using braid_test::pack_file;

constexpr std::size_t page_bytes = pack_file::page_bytes;
constexpr std::uint32_t page_count = 16;

/// What needing a page may end with, and what a cache may do meanwhile, over all seeds.
struct outcomes {
    std::uint64_t right = 0, unreadable = 0, too_little_room = 0, wrong = 0;
    std::uint64_t hits = 0, late = 0, evicted = 0, retried = 0, ahead_used = 0, wasted = 0;
};

outcomes& operator+=(outcomes& a, const outcomes& b) {
    a.right += b.right;
    a.unreadable += b.unreadable;
    a.too_little_room += b.too_little_room;
    a.wrong += b.wrong;
    a.hits += b.hits;
    a.late += b.late;
    a.evicted += b.evicted;
    a.retried += b.retried;
    a.ahead_used += b.ahead_used;
    a.wasted += b.wasted;
    return a;
}

/// In each frame five tasks need a page each; some are wanted before, some by several.
outcomes run_seed(const braid::scheduler_options& so, const pack_file& file, unsigned seed) {
    std::mt19937 random(seed);
    const auto share = [&] { return random() % 3 == 0 ? double(random() % 40) / 100 : 0; };
    const double fails = share(), is_cut = share(), is_refused = share(), is_late = share();
    const std::size_t room = (3 + random() % 8) * page_bytes;
    const unsigned in_flight = 1 + random() % 2;

    braid::scheduler s(so);
    braid::file_reader io(s, {.in_flight = 1 + static_cast<int>(random() % 4),
                              .bytes_per_frame = random() % 2 * 3 * page_bytes,
                              .back_end = braid::file_back_end::threads,
                              .faults = {.seed = seed,
                                         .fails = fails,
                                         .is_cut = is_cut,
                                         .is_refused = is_refused,
                                         .is_late = is_late,
                                         .delay = braid::microseconds(300),
                                         .reorders = random() % 2 == 0}});
    const braid::page_pack pack(file.path());
    // No budget of time, which no seed decides.
    braid::page_cache pages(s, io, pack,
                            {.resident_bytes = room,
                             .frames_in_flight = in_flight,
                             .retries = static_cast<unsigned>(random() % 3),
                             .read_ahead = static_cast<unsigned>(random() % 3),
                             .unpack_budget = braid::nanoseconds(0)});
    std::atomic<std::uint64_t> right{0}, unreadable{0}, too_little_room{0}, wrong{0};
    for (std::uint64_t frame = 1; frame <= 8; ++frame) {
        struct use {
            page_id wanted, needed;
            std::uint64_t wanted_for;
        };
        std::array<use, 5> uses;
        for (use& u : uses) {
            u = {{static_cast<std::uint32_t>(random() % page_count)},
                 {static_cast<std::uint32_t>((frame + random() % 6) % page_count)},
                 frame + random() % 4};
        }
        io.begin_frame();
        pages.begin_frame(frame);
        s.wait(s.spawn_batch({.name = "use"}, uses.size(), [&](std::size_t i) {
            const use& u = uses[i];
            pages.want(u.wanted, u.wanted_for);
            try {
                const auto bytes = pages.bytes(pages.need(u.needed, frame));
                const bool is_right =
                    bytes.size() == page_bytes && braid_test::is_page(bytes, u.needed.index);
                ++(is_right ? right : wrong);
            } catch (const braid::page_error& e) {
                const std::string why = e.what();
                const bool is_named = why.find("'page.") != std::string::npos;
                const bool is_about_room = why.find("raise resident_bytes") != std::string::npos;
                ++(!is_named ? wrong : is_about_room ? too_little_room : unreadable);
            }
        }));
        pages.unpack_some();
        EXPECT_LE(pages.statistics().resident_bytes, room);
    }
    const braid::page_cache_statistics n = pages.statistics();
    return {right,  unreadable, too_little_room, wrong,        n.hits,
            n.late, n.evicted,  n.retried,       n.ahead_used, n.wasted};
}

class StreamPageSeeds : public braid_test::scheduler_test {};
INSTANTIATE_TEST_SUITE_P(Workers, StreamPageSeeds, testing::ValuesIn(braid_test::worker_counts()));

TEST_P(StreamPageSeeds, RecordedASeedIsOneRunInWhichEachNeedEndsAndRight) {
    const pack_file file(page_count);
    const bool is_long = GetParam() == 2 || braid_test::sanitized;
    const auto count = static_cast<unsigned>(braid_test::stress_scaled(is_long ? 300 : 50));
    outcomes sum;
    for (unsigned seed = 1; seed <= count && !HasFailure(); ++seed) {
        SCOPED_TRACE(seed);
        std::vector<std::uint64_t> decisions;
        for (unsigned runs = seed % 10 == 0 ? 2 : 1; runs != 0; --runs) {
            braid_test::seeded_chooser chooser(seed);
            braid::scheduler_options o = options();
            o.chooser = &chooser;
            sum += run_seed(o, file, seed);
            EXPECT_EQ(sum.wrong, 0U);
            EXPECT_TRUE(decisions.empty() || decisions == chooser.log());
            EXPECT_EQ(chooser.standstills(), 0);
            decisions = chooser.log();
        }
    }
    std::printf(
        "%u seeds: %lu right (%lu at once, %lu late), %lu unreadable, %lu with too little room, "
        "%lu evicted, %lu read again, %lu asked for ahead and used, %lu not\n",
        count, sum.right, sum.hits, sum.late, sum.unreadable, sum.too_little_room, sum.evicted,
        sum.retried, sum.ahead_used, sum.wasted);
    for (const std::uint64_t n :
         {sum.right, sum.hits, sum.late, sum.unreadable, sum.too_little_room, sum.evicted,
          sum.retried, sum.ahead_used, sum.wasted}) {
        EXPECT_GT(n, 0U);
    }
}

}  // namespace
