// A capture that goes on over reloads: names of tasks and scopes are text of modules, each of which
// has its own.
#include "host_services.hpp"
#include "memory_sink.hpp"
#include "reload_test.hpp"

#include <functional>
#include <map>

namespace braid_test {
namespace {

namespace profile = braid::profile;
using profile::record;
using profile::record_kind;

/// How many records of that kind there are of each name.
std::map<std::string, int> counts_by_name(const profile::capture& c, record_kind kind) {
    std::map<std::string, int> counts;
    for (const profile::lane& l : c.lanes) {
        for (const record& r : l.records) {
            if (r.kind == kind) ++counts[c.types.at(r.aux).name];
        }
    }
    return counts;
}

constexpr const char* until_rest = "reload: until everything rests";
constexpr const char* pause_name = "reload: pause";

/// From one tick to another, on one lane.
struct span_of {
    std::size_t lane = 0;
    std::uint64_t begin = 0, end = 0;
};

/// The spans between these two kinds of records, for scopes those of that name. They do not nest.
std::vector<span_of> spans_of(const profile::capture& c, record_kind begin, record_kind end,
                              const std::string& name = {}) {
    std::vector<span_of> all;
    for (std::size_t lane = 0; lane < c.lanes.size(); ++lane) {
        bool open = false;
        for (const record& r : c.lanes[lane].records) {
            if (r.kind != begin && r.kind != end) continue;
            if (!name.empty() && c.types.at(r.aux).name != name) continue;
            EXPECT_EQ(open, r.kind == end) << name;
            open = r.kind == begin;
            if (open) {
                all.push_back({lane, r.time, UINT64_MAX});
            } else if (!all.empty()) {
                all.back().end = r.time;
            }
        }
    }
    return all;
}
std::vector<span_of> scopes_of(const profile::capture& c, const std::string& name) {
    return spans_of(c, record_kind::scope_begin, record_kind::scope_end, name);
}

/// Keeps the function that a module gives it.
struct keeper final : world::host_services {
    void keep(void (*function)(void*), void* data) override {
        kept = [function, data] { function(data); };
    }
    void wait() override {}
    void register_job(void (*)(void*), const char*) override {}
    std::function<void()> kept;
};

/// A recorded scheduler with the module `holder`, of which there are several builds.
struct recorded_host {
    explicit recorded_host(braid::scheduler_options o) : s(recorded(o)) {}
    reload::outcome take(const char* build) {
        write(place / "new", read(built(build)));
        fs::rename(place / "new", place / "libholder.so");
        modules.check_now();
        return modules.at_frame_boundary();
    }
    braid::scheduler_options recorded(braid::scheduler_options o) {
        o.observer = &recorder;
        return o;
    }

    memory_sink sink;
    profile::recorder recorder;
    folder place, copies;
    braid::scheduler s;
    reload::modules modules{s, {.folder = copies.path(), .watch = false}};
    reload::module& holder = modules.add({.name = "holder",
                                          .path = (place / "libholder.so").string(),
                                          .drain_for = braid::seconds(20)});
};

BRAID_SCHEDULER_TEST(ReloadRecording);

TEST_P(ReloadRecording, ThePauseOfAReloadIsAScopeDuringWhichNoTaskRuns) {
    recorded_host host(options());
    const reload::function<void(world::host_services&, int&)> keep(
        host.holder, "keep", [](world::host_services&, int&) {});
    ASSERT_TRUE(host.recorder.start(host.sink));
    ASSERT_EQ(host.take("holder_1").loaded(), 1u);

    // Short tasks all the time, and one that holds the old code, for which there may be several
    // tries.
    std::atomic<bool> enough{false};
    std::function<void()> work = [&] {
        const std::int64_t until = braid::active_policy::now() + 100'000;
        while (braid::active_policy::now() < until) braid::active_policy::relax();
        if (!enough) host.s.post(work);
    };
    for (int i = 0; i < 4; ++i) host.s.post(work);
    keeper own;
    int counter = 0;
    keep(own, counter);
    host.s.post(own.kept);
    ASSERT_EQ(host.take("holder_2").loaded(), 1u);
    EXPECT_EQ(counter, 1);
    enough = true;
    host.s.shut_down();
    EXPECT_TRUE(host.recorder.stop());
    EXPECT_EQ(host.recorder.statistics().dropped, 0u);

    const profile::capture c = host.sink.read();
    const std::vector<span_of> pauses = scopes_of(c, pause_name), asked = scopes_of(c, until_rest);
    const std::vector<span_of> bodies = spans_of(c, record_kind::started, record_kind::ended);
    ASSERT_GE(pauses.size(), 1u);
    ASSERT_EQ(pauses.size(), asked.size()) << "each try came to rest";
    EXPECT_GT(bodies.size(), 4u);
    for (std::size_t i = 0; i < pauses.size(); ++i) {
        const span_of& pause = pauses[i];
        EXPECT_EQ(pause.lane, asked[i].lane);
        EXPECT_LE(asked[i].begin, asked[i].end);
        EXPECT_LE(asked[i].end, pause.begin);
        EXPECT_LT(pause.begin, pause.end);
        for (const span_of& body : bodies) {
            EXPECT_FALSE(body.begin < pause.end && pause.begin < body.end) << i;
        }
    }
}

TEST_P(ReloadRecording, NamesAreThoseOfTheCodeThatGaveThemBeforeAndAfterReloads) {
    recorded_host host(options());
    const reload::function<const char*()> name(host.holder, "name_of_work", [] { return "stub"; });
    ASSERT_TRUE(host.recorder.start(host.sink));
    const char* before = "nothing";
    constexpr int tasks = 20;
    for (const char* const build : {"holder_1", "holder_2", "holder_1"}) {
        // The name of the old code stays where it is while another build is taken.
        host.recorder.begin_scope(before, std::source_location::current());
        const reload::outcome went = host.take(build);
        ASSERT_EQ(went.loaded(), 1u) << went.text();
        host.recorder.end_scope(before, std::source_location::current());
        before = name();
        for (int i = 0; i < tasks; ++i) host.s.wait(host.s.spawn({.name = before}, [] {}));
    }
    EXPECT_TRUE(host.recorder.stop());
    EXPECT_EQ(host.recorder.statistics().dropped, 0u);

    const profile::capture c = host.sink.read();
    auto spawned = counts_by_name(c, record_kind::spawned);
    EXPECT_EQ(spawned["work of build 1"], 2 * tasks);
    EXPECT_EQ(spawned["work of build 2"], tasks);
    EXPECT_GE(scopes_of(c, pause_name).size(), 2u) << "one for each reload";
    for (const record_kind kind : {record_kind::scope_begin, record_kind::scope_end}) {
        const std::map<std::string, int> wanted{
            {"nothing", 1}, {"work of build 1", 1}, {"work of build 2", 1}};
        auto counts = counts_by_name(c, kind);
        counts.erase(pause_name);
        counts.erase(until_rest);
        EXPECT_EQ(counts, wanted);
    }
}

}  // namespace
}  // namespace braid_test
