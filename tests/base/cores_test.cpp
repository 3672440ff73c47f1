// C10: how many cores a process may use, read from recorded /proc and /sys trees.
#include "base/platform/platform.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <ostream>
#include <string>

namespace {

struct tree {
    const char* folder;
    unsigned cores;
};
std::ostream& operator<<(std::ostream& to, const tree& t) { return to << t.folder; }

class Quota : public testing::TestWithParam<tree> {
protected:
    std::string root() const {
        return (std::filesystem::path(__FILE__).parent_path() / "data" / GetParam().folder)
            .string();
    }
};

TEST_P(Quota, IsReadFromARecordedTree) {
    ASSERT_TRUE(std::filesystem::exists(root() + "/proc/self/cgroup"));
    EXPECT_EQ(braid::platform::quota_cores(root().c_str()), GetParam().cores);
}

TEST_P(Quota, NeverRaisesTheAffinityMask) {
    const unsigned machine = braid::platform::usable_cores("/nonexistent");
    const unsigned usable = braid::platform::usable_cores(root().c_str());
    EXPECT_EQ(usable, GetParam().cores == 0 ? machine : std::min(machine, GetParam().cores));
}

INSTANTIATE_TEST_SUITE_P(Recorded, Quota,
                         testing::Values(tree{"v2_half", 1}, tree{"v2_fraction", 3},
                                         tree{"v2_unlimited", 0}, tree{"v2_parent_tighter", 2},
                                         tree{"v2_namespace", 1}, tree{"v1_own", 4},
                                         tree{"v1_container", 2}, tree{"v1_other_controller", 0},
                                         tree{"hybrid", 3}, tree{"broken", 0}, tree{"empty", 0}),
                         [](const auto& of) { return std::string(of.param.folder); });

TEST(UsableCores, WithoutAnyFileAreTheAffinityMask) {
    EXPECT_EQ(braid::platform::quota_cores("/nonexistent"), 0U);
    EXPECT_GE(braid::platform::usable_cores("/nonexistent"), 1U);
}

}  // namespace
