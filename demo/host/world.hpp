// One copy of the game with the picture, the sound and the memory that the platform lends it.
#pragma once

#include "../game/render/renderer.hpp"
#include "game_code.hpp"
#include "options.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace arena::host {

using model_blocks = std::vector<aligned_array<std::byte>>;

class world {
public:
    /// Models and code must outlive it.
    world(const options& wish, const model_blocks& models, const game_code& code);

    /// After a boundary at which code was loaded, while no frame is in flight. State stays, but for
    /// what a stub has made; the game may lie elsewhere.
    void follow_code();
    /// In a process that tries new code: one frame with it, on this thread, and gone with it.
    void try_frame();

    /// From the next frame on.
    void use_assets(const asset_pages& from) { assets_ = from; }

    const game_api& api() const { return code_.game(); }
    game& state() { return *game_; }
    const game& state() const { return *game_; }
    std::uint32_t characters() const { return setup_.characters; }
    renderer& picture() { return picture_; }
    std::span<const std::int16_t> samples() const { return sound_.code->samples(*sound_.state); }

private:
    struct release {
        void operator()(std::byte* block) const { std::free(block); }
    };
    /// Aligned and zeroed; lives in `memory` until that gets another one.
    using block = std::unique_ptr<std::byte, release>;
    static std::span<std::byte> make_block(block& memory, std::size_t bytes);
    void make_game();
    void give_scratch();
    void make_sound();

    const game_code& code_;
    const model_blocks& models_;
    const bool keeps_scratch_;
    renderer picture_;
    asset_pages assets_;
    game_setup setup_;
    sound_output sound_;
    block scratch_memory_, sound_memory_;
    std::vector<block> scratch_before_;  // a processor that was lost may write there
    std::span<std::byte> scratch_;
    std::unique_ptr<game_state> state_;
    game* game_ = nullptr;
    bool game_is_real_ = false, sound_is_real_ = false;
};

}  // namespace arena::host
