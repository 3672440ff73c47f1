#pragma once
// What the stand-in for Tracy was told, as zones and frames; checked on the way for what Tracy
// takes for a mistake.

#include "scheduler_test.hpp"

#include <braid/core/observer.hpp>
#include <braid/profile/tracy.hpp>
#include <stand_in/calls.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

namespace braid_test {

struct told_zone {
    std::string name;  // "" where Tracy shows the function
    std::string function, file;
    std::uint32_t line = 0;
    unsigned thread = 0;
    std::size_t in = SIZE_MAX;  // the zone around it
};

struct told_frame {
    std::string name;
    unsigned started_on = 0, ended_on = 0;
};

struct told {
    std::vector<told_zone> zones;
    std::vector<told_frame> frames;
    std::vector<std::pair<unsigned, std::string>> thread_names;

    std::size_t count(std::string_view name) const {
        return static_cast<std::size_t>(std::count_if(
            zones.begin(), zones.end(), [&](const auto& z) { return z.name == name; }));
    }
    /// The only one of that name.
    told_zone one(std::string_view name) const {
        EXPECT_EQ(count(name), 1U) << name;
        for (const told_zone& z : zones) {
            if (z.name == name) return z;
        }
        return {};
    }
    std::string around(const told_zone& z) const {
        return z.in == SIZE_MAX ? "" : zones[z.in].name;
    }
};

/// Each zone ends on the thread where it began, the last one first; frames of a name do not
/// overlap, and each one ends.
inline told read_calls(const std::vector<stand_in::call>& calls) {
    told all;
    std::map<unsigned, std::vector<std::pair<std::uint32_t, std::size_t>>> open;  // by thread
    std::map<std::string_view, std::size_t> frames;                               // that are open
    std::map<std::string_view, const char*> pointers;  // Tracy tells names apart by their address
    for (const stand_in::call& c : calls) {
        auto& zones = open[c.thread];
        switch (c.kind) {
            case stand_in::what::zone_begin: {
                const auto& p = *c.place;
                all.zones.push_back({p.name != nullptr ? p.name : "", p.function, p.file, p.line,
                                     c.thread, zones.empty() ? SIZE_MAX : zones.back().second});
                zones.emplace_back(c.zone, all.zones.size() - 1);
                break;
            }
            case stand_in::what::zone_end:
                if (zones.empty()) {
                    ADD_FAILURE() << "zone " << c.zone << " ends on a thread that has none";
                    break;
                }
                EXPECT_EQ(zones.back().first, c.zone) << "another zone began after it";
                zones.pop_back();
                break;
            case stand_in::what::frame_start:
                EXPECT_EQ(pointers.try_emplace(c.frame, c.frame).first->second, c.frame);
                EXPECT_TRUE(frames.emplace(c.frame, all.frames.size()).second)
                    << c.frame << " begins before the end of the one before";
                all.frames.push_back({c.frame, c.thread});
                break;
            case stand_in::what::frame_end: {
                const auto at = frames.find(c.frame);
                if (at == frames.end()) {
                    ADD_FAILURE() << c.frame << " ends without having begun";
                    break;
                }
                all.frames[at->second].ended_on = c.thread;
                frames.erase(at);
                break;
            }
            case stand_in::what::thread_name:
                all.thread_names.emplace_back(c.thread, c.thread_name);
                break;
        }
    }
    for (const auto& [thread, zones] : open) {
        EXPECT_TRUE(zones.empty())
            << zones.size() << " zones of thread " << thread << " do not end";
    }
    EXPECT_TRUE(frames.empty()) << frames.size() << " frames do not end";
    return all;
}

/// Counts events and hands them on.
class counting_observer final : public braid::observer {
public:
    explicit counting_observer(braid::observer* next = nullptr) : next_(next) {}
    void on_event(const braid::task_event& e) override {
        // relaxed: read when the scheduler is gone.
        counts_[static_cast<std::size_t>(e.kind)].fetch_add(1, std::memory_order_relaxed);
        if (e.task)
            of_tasks_[static_cast<std::size_t>(e.kind)].fetch_add(1, std::memory_order_relaxed);
        if (next_ != nullptr) next_->on_event(e);
    }
    void begin_again() {
        for (auto& c : counts_) c = 0;
        for (auto& c : of_tasks_) c = 0;
    }
    std::size_t count(braid::event_kind kind) const {
        return counts_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
    }
    /// Those that name a task.
    std::size_t of_tasks(braid::event_kind kind) const {
        return of_tasks_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
    }

    static constexpr std::size_t kinds = static_cast<std::size_t>(braid::event_kind::frame_end) + 1;

private:
    std::array<std::atomic<std::size_t>, kinds> counts_{}, of_tasks_{};
    braid::observer* next_;
};

/// A scheduler that Tracy watches; `before` hears each event first, `after` by way of Tracy.
class tracy_test : public testing::TestWithParam<int> {
protected:
    tracy_test() { stand_in::take_calls(); }

    /// What was told until the scheduler was gone.
    template <class Program>
    told watch(Program&& program) {
        before_.begin_again();
        after_.begin_again();
        {
            braid::scheduler_options o{.workers = GetParam(), .observer = &before_};
            notes_.install(o);
            braid::scheduler s(o);
            program(s);
        }
        for (std::size_t kind = 0; kind < counting_observer::kinds; ++kind) {
            const auto k = static_cast<braid::event_kind>(kind);
            EXPECT_EQ(before_.count(k), after_.count(k))
                << "event " << kind << " was not forwarded";
        }
        for (const std::string& what : notes_.misuse) ADD_FAILURE() << what;
        const told all = read_calls(stand_in::take_calls());
        EXPECT_EQ(all.zones.size(), before_.count(braid::event_kind::started) +
                                        before_.count(braid::event_kind::job_started) +
                                        before_.of_tasks(braid::event_kind::wait_begin));
        return all;
    }

    deadline deadline_;
    recorder notes_;
    counting_observer after_;
    braid::profile::tracy_observer tracy_{{.forward_to = &after_}};
    counting_observer before_{&tracy_};
};

}  // namespace braid_test

#define BRAID_TRACY_TEST(Suite)                                           \
    class Suite : public braid_test::tracy_test {};                       \
    INSTANTIATE_TEST_SUITE_P(Workers, Suite, testing::Values(0, 1, 2, 8), \
                             [](const auto& count) { return std::to_string(count.param); })
