// What state costs at the boundary at which its layout changes: this program's own debug
// information describes the old types and the new ones. Each answer is checked before a time is
// shown.
#include "reload/arena/arena_state.hpp"
#include "reload/dwarf/graph.hpp"
#include "reload/migrate/migration.hpp"
#include "reload/platform/platform.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/reload/modules.hpp>

#include <benchmark/benchmark.h>

#include <cstring>
#include <optional>
#include <vector>

namespace before {

struct entity {  // 24 bytes
    float x = 1, y = 2;
    int health = 3;
    short team = 4;
    entity* target = nullptr;
};
struct still {
    double values[3] = {1, 2, 3};
};
struct world {
    std::vector<entity> all;
    std::span<still> same;
};

}  // namespace before

namespace after {

struct entity {  // 40 bytes
    entity* target = nullptr;
    double x = 0, y = 0;
    long health = 0;
    int team = 0;
    int fresh = 0;
};
struct still {
    double values[3] = {1, 2, 3};
};
struct world {
    std::span<still> same;
    std::vector<entity> all;
    int frames = 0;
};

}  // namespace after

namespace {

namespace reload = braid::reload;
namespace detail = reload::detail;

/// The plan is made once: in a program, the background does it.
struct planned {
    planned() {
        reload::platform::file_mark mark;
        if (!reload::platform::read_file(reload::platform::own_program(), bytes, mark) ||
            !types.open(bytes)) {
            return;
        }
        detail::type_notes notes;
        for (const char* const name : {"world", "entity", "still"}) {
            notes.renames.push_back(
                {std::string("after::") + name, "", std::string("before::") + name});
        }
        detail::debug_info* const files[] = {&types};
        plan = detail::make_plan(detail::read_graph(files, {"before::world", "before::still"}),
                                 detail::read_graph(files, {"after::world", "after::still"}),
                                 {"before::world", "before::still"}, notes, false);
    }
    std::vector<std::byte> bytes;
    detail::debug_info types;
    detail::migration_plan plan;
};

bool is_right(const reload::arena& state, std::size_t entities, std::size_t still) {
    const auto& now = *state.find<after::world>("world");
    if (now.all.size() != entities || now.same.size() != still) return false;
    for (std::size_t i = 0; i < entities; ++i) {
        const after::entity& one = now.all[i];
        if (one.target != &now.all[(i * 7) % entities] || one.y != 2 || one.health != 3 ||
            one.team != 4 || one.fresh != 0) {
            return false;
        }
    }
    return still == 0 || now.same[still - 1].values[2] == 3;
}

void migrate(benchmark::State& state, std::size_t entities, std::size_t still) {
    static planned own;
    if (!own.plan.moves || !own.plan.refused.empty()) {
        state.SkipWithError("there is no plan: was this built with -g?");
        return;
    }
    braid::scheduler scheduler({.workers = 0});
    reload::modules_options alone;
    alone.watch = false;
    reload::modules modules(scheduler, alone);
    for (auto _ : state) {
        reload::arena memory(modules);
        auto& world = memory.root<before::world>("world");
        world.all.resize(entities);
        for (std::size_t i = 0; i < entities; ++i) {
            world.all[i].target = &world.all[(i * 7) % entities];
        }
        world.same = memory.make_array<before::still>(still);
        detail::arena_state* const arenas[] = {&detail::arena_door::state_of(memory)};
        const std::int64_t begun = reload::platform::monotonic_ns();
        {
            detail::migration run(own.plan, {}, false);
            run.build(arenas);
            run.commit();
        }
        state.SetIterationTime(static_cast<double>(reload::platform::monotonic_ns() - begun) / 1e9);
        if (!is_right(memory, entities, still)) state.SkipWithError("an object is wrong");
        // Its destructor is that of the new type.
        memory.find<after::world>("world")->all = {};
    }
}

void reload_changed_vector(benchmark::State& state) {
    migrate(state, static_cast<std::size_t>(state.range(0)), 0);
}
BENCHMARK(reload_changed_vector)
    ->Arg(100'000)
    ->Arg(1'000'000)
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond)
    ->UseManualTime();

void reload_same_array(benchmark::State& state) {
    migrate(state, 0, static_cast<std::size_t>(state.range(0)));
}
BENCHMARK(reload_same_array)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->UseManualTime();

/// The same bytes into fresh memory.
void reload_same_array_memcpy(benchmark::State& state) {
    const std::vector<before::still> from(static_cast<std::size_t>(state.range(0)));
    const std::size_t bytes = from.size() * sizeof(before::still);
    for (auto _ : state) {
        const std::int64_t begun = reload::platform::monotonic_ns();
        const std::unique_ptr<std::byte[]> to(new std::byte[bytes]);
        std::memcpy(to.get(), from.data(), bytes);
        benchmark::DoNotOptimize(to.get());
        state.SetIterationTime(static_cast<double>(reload::platform::monotonic_ns() - begun) / 1e9);
    }
}
BENCHMARK(reload_same_array_memcpy)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->UseManualTime();

}  // namespace
