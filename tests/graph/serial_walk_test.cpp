// What a serial stage of a frame runs: the graph's own nodes, one after the other.
#include "graph/serial_walk.hpp"

#include "braid/graph/graph.hpp"
#include "scheduler_test.hpp"

#include <string>

namespace {

class SerialWalk : public testing::Test {
protected:
    SerialWalk() : s_({.workers = 1}), g_(s_), walk_(braid::detail::core::memory(s_.internals())) {}

    braid::graph_node add(char c) {
        return g_.add([this, c] {
            order_ += c;
            if (c >= 'A' && c <= 'Z') throw c;
        });
    }
    /// Returns what came out: a letter, or 0.
    char walk() {
        char failed = 0;
        order_.clear();
        s_.wait(s_.spawn([&](braid::task_context& task) {
            ASSERT_TRUE(g_.internals()->sort_if_edited());
            ASSERT_TRUE(walk_.prepare(*g_.internals()));
            const std::exception_ptr error = walk_.run(*g_.internals(), task);
            try {
                if (error != nullptr) std::rethrow_exception(error);
            } catch (char c) {
                failed = c;
            }
        }));
        return failed;
    }

    braid_test::deadline deadline_;
    braid::scheduler s_;
    braid::graph g_;
    braid::detail::serial_walk walk_;
    std::string order_;
};

TEST_F(SerialWalk, GoesInTheOrderOfAddingAsFarAsEdgesAllow) {
    const auto d = add('d');
    const auto a = add('a');
    add('b');
    const auto c = add('c');
    g_.precede(c, d);
    g_.precede(a, d);
    EXPECT_EQ(walk(), 0);
    EXPECT_EQ(order_, "abcd");
    EXPECT_EQ(walk(), 0);
    EXPECT_EQ(order_, "abcd");
}

TEST_F(SerialWalk, FollowsEditsAlsoWhenSomebodyElseHasSortedTheGraph) {
    const auto b = add('b');
    const auto gone = add('x');
    EXPECT_EQ(walk(), 0);
    EXPECT_EQ(order_, "bx");
    const auto a = add('a');
    g_.precede(a, b);
    g_.erase(gone);
    EXPECT_NE(g_.to_dot(), "");  // sorts it
    EXPECT_EQ(walk(), 0);
    EXPECT_EQ(order_, "ab");
}

TEST_F(SerialWalk, LeavesOutWhatComesAfterAFailureAndTheRestRuns) {
    const auto first = add('A');
    const auto behind = add('b');
    const auto second = add('C');
    const auto further = add('d');
    add('e');
    g_.precede(first, behind);
    g_.precede(behind, further);
    g_.precede(second, further);
    EXPECT_EQ(walk(), 'A') << "of two the one that was added first";
    EXPECT_EQ(order_, "ACe");
    EXPECT_EQ(walk(), 'A') << "failures are of one walk";
    EXPECT_EQ(order_, "ACe");
}

TEST_F(SerialWalk, IsNoRunOfTheGraph) {
    add('a');
    EXPECT_EQ(walk(), 0);
    g_.run_and_wait();
    EXPECT_EQ(order_, "aa");
    EXPECT_EQ(walk(), 0);
    EXPECT_EQ(order_, "a");
}

}  // namespace
