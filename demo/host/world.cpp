#include "world.hpp"

#include <cstring>
#include <new>

namespace arena::host {

world::world(const options& wish, const model_blocks& models)
    : api_(*arena_game_api()),
      picture_(renderer_options{.width = wish.width, .height = wish.height}),
      sound_(mixer_options{.seed = wish.seed}) {
    const std::vector<std::span<const std::byte>> views(models.begin(), models.end());
    const game_setup setup{.characters = wish.characters,
                           .seed = wish.seed,
                           .models = views,
                           .picture = &picture_,
                           .sound = &sound_};
    bytes_ = (api_.memory_size(setup) + 63) / 64 * 64;
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(64, bytes_)));
    if (!memory_) throw std::bad_alloc();
    std::memset(memory_.get(), 0, bytes_);
    game_ = api_.create(setup, {memory_.get(), bytes_});
}

}  // namespace arena::host
