// A game that is edited while it runs, by a script: at given frames a copy of its source changes,
// is built and reloaded, and what came of it is compared with what should.
#pragma once

#include "contender.hpp"
#include "edited_copy.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace arena::host {

class self_edit {
public:
    /// Copies the modules of `wish` below its output folder, so that the user's build stays as it
    /// is, and lets `wish` use those. Before game_code is made. Throws std::runtime_error.
    static void prepare(options& wish);

    /// Builds all edits: those of the layout only, or all. Throws std::runtime_error.
    self_edit(const options& wish, game_code& code);

    /// The next frame after this one before which something is to be done.
    std::uint32_t next_stop(std::uint32_t frame) const;
    /// Before that frame, while none is in flight.
    void at_frame(std::uint32_t frame, const contenders& all);
    /// After the last frame. True: all came out as it should; otherwise says what did not.
    bool came_out() const;

private:
    struct edit;
    struct built_edit {
        const edit* what;
        std::filesystem::path module;
        double seconds;
        std::string failed = "its frame was not reached";  // "": came out
        double walked = 0;                                 // metres per second, before
    };
    static const std::vector<edit>& edits();
    void apply(built_edit& one, const contenders& all);
    code_change reload(const built_edit& one, const contenders& all);
    void judge(built_edit& one, const contenders& all) const;

    game_code& code_;
    std::filesystem::path live_;
    std::vector<built_edit> built_;
};

}  // namespace arena::host
