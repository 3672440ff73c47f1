#include "game_code.hpp"

#ifdef ARENA_HAS_RELOAD
#include "stubs.hpp"

#include <braid/core/scheduler.hpp>
#include <braid/reload/arena.hpp>
#include <braid/reload/function.hpp>
#include <braid/reload/modules.hpp>
#include <braid/reload/plan.hpp>
#include <braid/reload/publish.hpp>
#endif

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace arena::host {
namespace {

bool same_row(const stage& a, const stage& b) {
    return a.of == b.of && std::string_view(a.name) == b.name &&
           std::ranges::equal(a.after, b.after);
}

}  // namespace

std::string in_figures(const code_change& change) {
    if (change.loaded == 0 || change.first) return "";
    std::string text;
    if (change.build_seconds > 0) text = fmt::format("built in {:.1f} s, ", change.build_seconds);
    text += fmt::format("reloaded in {:.2f} ms, ", change.boundary_ms);
    return change.objects == 0 ? text + "the state stayed where it is"
                               : text + fmt::format("{} objects migrated in {:.2f} ms",
                                                    change.objects, change.migration_ms);
}

#ifdef ARENA_HAS_RELOAD

namespace reload = braid::reload;

namespace {

using std::chrono::steady_clock;

double ms_since(steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(steady_clock::now() - begin).count();
}

/// When it was written; without it, before all others.
std::filesystem::file_time_type time_of(const std::filesystem::path& file) {
    std::error_code none;
    const auto time = last_write_time(file, none);
    return none ? std::filesystem::file_time_type::min() : time;
}

}  // namespace

bool game_code::can_reload() { return true; }
std::filesystem::path game_code::default_folder() { return ARENA_MODULES; }

struct game_code::state {
    state(const std::filesystem::path& in, bool watch)
        : folder(in),
          tasks({.name = "reload", .workers = watch ? 1 : 0}),
          modules(tasks, {.watch = watch}),
          game(modules.add({.name = "game", .path = folder / "libarena_game.so"})),
          sound(modules.add({.name = "sound", .path = folder / "libarena_sound.so"})) {}

    /// Of the build that has put the game in place; 0: unknown.
    double build_seconds() {
        const auto now = time_of(folder / mark), ended = time_of(folder / "libarena_game.so");
        if (std::exchange(begun, now) == now || ended < now) return 0;
        return std::chrono::duration<double>(ended - now).count();
    }

    /// What builds on save touches this file first.
    static constexpr const char* mark = ".build_began";
    std::filesystem::path folder;
    std::filesystem::file_time_type begun = time_of(folder / mark);
    // Checks are no part of a frame, and not every backend has a scheduler of Braid's.
    braid::scheduler tasks{{.log = braid::log_handler::silent()}};
    reload::modules modules;
    reload::module &game, &sound;
    reload::function<game_api()> game_table{game, "arena_game_api", stub_game_api};
    reload::function<const sound_api*()> sound_table{sound, "arena_sound_api", stub_sound_api};
};

game_code::game_code(const std::filesystem::path& folder, bool watch)
    : state_(std::make_unique<state>(folder, watch)) {
    copy_tables();
    check_now();
}

void game_code::check_now() { state_->modules.check_now(); }

void game_code::put_in_place(const std::filesystem::path& built) {
    const auto live = state_->folder / "libarena_game.so";
    if (const braid::status went = reload::publish(built.string(), live.string()); !went)
        throw std::runtime_error(went.text);
    check_now();
}

std::string game_code::plan(const std::filesystem::path& before,
                            const std::filesystem::path& after) {
    const reload::plan_result found =
        reload::plan_files(before.string(), after.string(), "arena::character");
    return found.readable ? found.text : found.readable.text + "\n";
}

code_change game_code::at_frame_boundary() {
    const bool first = !game_loaded();
    const auto begin = steady_clock::now();
    const reload::outcome went = state_->modules.at_frame_boundary();
    if (!went) return {};
    if (went.loaded() != 0) copy_tables();
    return {.loaded = went.loaded(),
            .refused = went.refused(),
            .first = first,
            .text = went.text(),
            .table = went.table(),
            .objects = went.migrated().objects,
            .migration_ms = static_cast<double>(went.migrated().time.value) * 1e-6,
            .boundary_ms = ms_since(begin),
            .build_seconds = state_->build_seconds()};
}

void game_code::try_with(std::function<void()> frame) {
    state_->modules.try_with([this, frame = std::move(frame)](reload::trial&) {
        copy_tables();
        frame();
    });
}

std::unique_ptr<game_state> game_code::make_state() const {
    return std::make_unique<game_state>(state_->modules);
}

bool game_code::game_loaded() const { return state_->game_table.loaded(); }
bool game_code::sound_loaded() const { return state_->sound_table.loaded(); }

#else

bool game_code::can_reload() { return false; }
std::filesystem::path game_code::default_folder() { return {}; }

struct game_code::state {
    static game_api game_table() { return arena_game_api(); }
    static const sound_api* sound_table() { return arena_sound_api(); }
};

game_code::game_code(const std::filesystem::path&, bool) { copy_tables(); }
void game_code::check_now() {}
void game_code::put_in_place(const std::filesystem::path&) {}
std::string game_code::plan(const std::filesystem::path&, const std::filesystem::path&) {
    return "";
}
code_change game_code::at_frame_boundary() { return {}; }
void game_code::try_with(std::function<void()>) {}
std::unique_ptr<game_state> game_code::make_state() const { return std::make_unique<game_state>(); }
bool game_code::game_loaded() const { return true; }
bool game_code::sound_loaded() const { return true; }

#endif

game_code::~game_code() = default;

/// No pointer into code that was replaced is left here or in what reads this.
void game_code::copy_tables() {
    game_ = state_->game_table();
    sound_ = *state_->sound_table();
    if (std::ranges::equal(rows_, game_.stages, same_row)) {
        std::ranges::copy(game_.stages, rows_.begin());
    } else {
        // The rows before stay until the next change, so that the address is another one.
        rows_before_ = std::exchange(rows_, {game_.stages.begin(), game_.stages.end()});
    }
    game_.stages = rows_;
}

void print_news(const code_change& change) {
    fmt::print("{}\n{}", change.text, change.table);
    if (const std::string figures = in_figures(change); !figures.empty())
        fmt::print("  {}\n", figures);
    std::fflush(stdout);
}

}  // namespace arena::host
