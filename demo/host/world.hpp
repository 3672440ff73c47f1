// One copy of the game with the picture, the sound and the memory that the platform lends it.
#pragma once

#include "../game/game_api.hpp"
#include "../game/render/renderer.hpp"
#include "../game/sound/mixer.hpp"
#include "options.hpp"

#include <cstdlib>
#include <memory>
#include <vector>

namespace arena::host {

using model_blocks = std::vector<std::vector<std::byte>>;

class world {
public:
    world(const options& wish, const model_blocks& models);

    const game_api& api() const { return api_; }
    game& state() { return *game_; }
    renderer& picture() { return picture_; }
    mixer& sound() { return sound_; }
    std::size_t memory_bytes() const { return bytes_; }

private:
    struct release {
        void operator()(std::byte* block) const { std::free(block); }
    };

    const game_api& api_;
    renderer picture_;
    mixer sound_;
    std::size_t bytes_ = 0;
    std::unique_ptr<std::byte, release> memory_;
    game* game_ = nullptr;
};

}  // namespace arena::host
