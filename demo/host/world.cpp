#include "world.hpp"

#include "stream/assets.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace arena::host {

world::world(const options& wish, const model_blocks& models, const game_code& code)
    : code_(code),
      models_(models),
      keeps_scratch_(!wish.frames_in.device.empty()),
      picture_(renderer_options{.width = wish.width, .height = wish.height}),
      assets_(wish.assets != nullptr ? wish.assets->pages() : no_assets()),
      setup_{.characters = wish.characters,
             .seed = wish.seed,
             .models = {},
             .picture = &picture_,
             .sound = &sound_,
             .assets = &assets_} {
    make_sound();
    make_game();
}

void world::follow_code() {
    if (!sound_is_real_) make_sound();
    if (!game_is_real_) return make_game();
    game_ = state_->find<game>("game");
    give_scratch();
}

void world::try_frame() {
    use_assets(no_assets());  // the threads that stream them are not in this process
    follow_code();
    api().begin_frame(*game_, {});
    for (const stage& row : api().stages) {
        const std::uint32_t parts = row.parts(*game_);
        for (std::uint32_t part = 0; part < parts; ++part) row.run(*game_, part);
    }
}

std::span<std::byte> world::make_block(block& memory, std::size_t bytes) {
    bytes =
        std::max(bytes + array_alignment - 1, array_alignment) / array_alignment * array_alignment;
    memory.reset();  // first, so that two never need room at once
    memory.reset(static_cast<std::byte*>(std::aligned_alloc(array_alignment, bytes)));
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 0, bytes);
    return {memory.get(), bytes};
}

void world::make_game() {
    const std::vector<std::span<const std::byte>> views(models_.begin(), models_.end());
    game_setup setup = setup_;
    setup.models = views;
    state_.reset();  // first, so that two never need room at once
    state_ = code_.make_state();
    game_ = api().create(setup, *state_);
    game_is_real_ = code_.game_loaded();
    give_scratch();
}

void world::give_scratch() {
    const std::size_t bytes = api().scratch_size(setup_);
    if (bytes > scratch_.size()) {
        if (keeps_scratch_ && scratch_memory_)
            scratch_before_.push_back(std::move(scratch_memory_));
        scratch_ = make_block(scratch_memory_, bytes);
    }
    api().use_scratch(*game_, scratch_);
}

void world::make_sound() {
    const sound_api& code = code_.sound();
    sound_ = {&code,
              code.create({.seed = setup_.seed}, make_block(sound_memory_, code.memory_size()))};
    sound_is_real_ = code_.sound_loaded();
}

}  // namespace arena::host
