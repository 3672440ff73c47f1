// The code of the game and of its sound: two modules that may be replaced while no frame runs, or,
// where Braid was built without reloading, parts of this program.
#pragma once

#include "../game/game_api.hpp"
#include "../game/sound/sound_api.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace arena::host {

/// What a boundary did; false: nothing.
struct code_change {
    explicit operator bool() const { return !text.empty(); }

    unsigned loaded = 0, refused = 0;  // modules
    bool first = false;                // stubs have run until now
    std::string text;                  // a sentence
    std::string table;                 // a line for each field of a refused migration, or static
    std::uint64_t objects = 0;         // of the state that were built anew
    double migration_ms = 0;           // what that took
    double boundary_ms = 0;            // and the whole boundary
    double build_seconds = 0;          // what the build took before; 0: unknown
};
/// Times and counts of a reload in a few words; "" of anything else.
std::string in_figures(const code_change& change);

class game_code {
public:
    /// False: the code is a part of this program.
    static bool can_reload();
    /// Where the build puts the modules.
    static std::filesystem::path default_folder();

    /// Looks at the modules in `folder`; the first boundary loads them. `watch`: a thread waits for
    /// new ones, which are checked and loaded beside the frames.
    game_code(const std::filesystem::path& folder, bool watch);
    ~game_code();
    game_code(const game_code&) = delete;
    game_code& operator=(const game_code&) = delete;

    /// Looks at the modules now; for hosts that do not watch.
    void check_now();
    /// Publishes that file as the game's module, and looks at it. Throws std::runtime_error.
    void put_in_place(const std::filesystem::path& built);
    /// How a character would go over from one build of the game to another.
    static std::string plan(const std::filesystem::path& before,
                            const std::filesystem::path& after);

    /// While no frame is in flight: goes over to new code.
    code_change at_frame_boundary();

    /// From the second load on new code runs in a child process first, and is refused when it
    /// crashes there: `frame` runs one frame with it, on one thread, without anything that another
    /// thread or the world outside would notice. A boundary that takes or refuses it comes later.
    void try_with(std::function<void()> frame);

    /// Memory for one game. It follows the reloads of this code, which outlives it.
    std::unique_ptr<game_state> make_state() const;

    /// Tables of functions that stay where they are; a boundary writes others into them. A game
    /// without code has no stages, and does nothing.
    const game_api& game() const { return game_; }
    const sound_api& sound() const { return sound_; }
    /// False: stubs run. State that a stub has made is of no use to the code that comes.
    bool game_loaded() const;
    bool sound_loaded() const;

    /// The rows of the frame. A boundary after which rows or edges are others puts them to another
    /// address; otherwise it replaces the functions where they are, and graphs stay good.
    std::span<const stage> stages() const { return rows_; }

private:
    void copy_tables();

    struct state;
    std::unique_ptr<state> state_;
    game_api game_{};
    sound_api sound_{};
    std::vector<stage> rows_, rows_before_;
};

/// Prints what a boundary did, at once: somebody who changes code waits for it.
void print_news(const code_change& change);

}  // namespace arena::host
