// deadlock_options::lines: sentences say where in the source a task was made.
#include "deadlocks.hpp"
#include "refusing_memory.hpp"
#include "scheduler_test.hpp"

#include <braid/core/completion.hpp>

#include <string>
#include <vector>

namespace {

using braid::task_id;
using braid_test::door;

BRAID_SCHEDULER_TEST(ExplainLines);

std::string explain(const braid::scheduler& s, task_id id) { return s.explain(id).text; }

std::string number(task_id id) {
    return "#" + std::to_string(static_cast<std::uint32_t>(id.value)) + "." +
           std::to_string(id.value >> 32);
}

std::string at(int line) { return " (source_lines_test.cpp:" + std::to_string(line) + ") "; }

bool begins_with(const std::string& text, const std::string& with) {
    return text.compare(0, with.size(), with) == 0;
}

braid::scheduler_options with_lines(braid::scheduler_options o) {
    o.deadlock.lines = true;
    return o;
}

TEST_P(ExplainLines, FollowTheNameOrTheNumberOfEachTask) {
    braid::scheduler s(with_lines(options()));
    door leaves;
    const auto body = [&] { leaves.pass(); };
    std::vector<task_id> ids;
    const int first = __LINE__ + 1;
    ids.push_back(s.spawn(body));
    ids.push_back(s.spawn({.name = "named"}, body));
    ids.push_back(s.spawn({.priority = braid::priority_level::low}, body));
    ids.push_back(s.spawn({.name = "after", .after = {ids[0]}}, body));
    braid::task_builder built = s.begin({.name = "built"}, body);
    const std::string names[] = {"Task " + number(ids[0]), "'named'", "Task " + number(ids[2]),
                                 "'after'", "'built'"};
    ids.push_back(built.id());
    for (std::size_t i = 0; i != 5; ++i) {
        std::string text = explain(s, ids[i]);
        if (text[0] == 't') text[0] = 'T';
        const std::string begin = names[i] + at(first + static_cast<int>(i));
        EXPECT_TRUE(begins_with(text, begin)) << text << "\n" << begin;
    }
    built.finish();
    leaves.open();
    for (const task_id id : ids) s.wait(id);
}

TEST_P(ExplainLines, AreThoseOfChildrenAndCompletions) {
    braid::scheduler s(with_lines(options()));
    const int line = __LINE__ + 1;
    s.wait(s.spawn({.name = "outer"}, [&](braid::task_context& context) {
        const task_id self = context.id();
        const braid::completion_id reply = context.defer({.name = "reply"});
        const task_id child = s.spawn({.name = "child", .parent = self}, [] {});
        EXPECT_TRUE(begins_with(explain(s, self), "'outer'" + at(line) + "runs on '"));
        EXPECT_EQ(explain(s, {reply.value}),
                  "'reply'" + at(line + 2) + "is a completion that nobody has settled yet.");
        const std::string text = explain(s, child);
        EXPECT_TRUE(begins_with(text, "'child'" + at(line + 3)) || GetParam() != 0) << text;
        s.complete(reply);
    }));
}

TEST_P(ExplainLines, AreLeftOutWithoutTheOptionAndForTasksOfTheLibrarysOwn) {
    for (const bool lines : {false, true}) {
        braid::scheduler_options o = options();
        o.deadlock.lines = lines;
        braid::scheduler s(o);
        // The slot is used again, by a task that has no line.
        const task_id before = s.spawn([] {});
        s.wait(before);
        braid::task_builder built = s.begin({.name = "built", .where = {}}, braid::empty);
        EXPECT_EQ(explain(s, built.id()), "'built' is being built: finish() was not called yet.");
        built.finish();
        s.wait(built.id());
    }
}

TEST_P(ExplainLines, AreMissingWhereThereIsNoMemoryForThemAndNothingElseIs) {
    braid::scheduler_options o = with_lines(options());
    braid_test::refusing_memory memory(o.memory);
    o.memory = memory.hooks();
    braid::scheduler s(o);
    // The thread has slots by now, and no segment of lines exists.
    s.wait(s.spawn({.where = {}}, [] {}));
    memory.refuse_after(0);
    const task_id id = s.spawn({.name = "without"}, [] {});
    const int refused = memory.refused();
    memory.give_back();
    ASSERT_TRUE(id);
    EXPECT_GT(refused, 0);
    s.wait(id);
    const int line = __LINE__ + 1;
    braid::task_builder built = s.begin({.name = "built"}, braid::empty);
    EXPECT_EQ(explain(s, built.id()),
              "'built'" + at(line) + "is being built: finish() was not called yet.");
    built.finish();
    s.wait(built.id());
}

}  // namespace
