// What the platform has in pages: which of it this frame shows, and which a later one wants.
#include "assets.hpp"

namespace arena {

levels_of_frame::levels_of_frame(game& game, std::uint64_t frame)
    : game_(game),
      frame_(frame),
      // A ring of delay + 1: the oldest is what was wanted `delay` frames ago.
      ready_(game.levels_wanted[(frame + 1) % game.levels_wanted.size()]),
      wanted_(game.levels_wanted[frame % game.levels_wanted.size()]) {
    wanted_ = game.levels_shown = {};
}

std::uint32_t levels_of_frame::show(std::size_t model, std::uint32_t level) {
    wanted_.add(model, level);
    while (level != coarsest && !ready_.has(model, level)) ++level;
    game_.levels_shown.add(model, level);
    return level;
}

void levels_of_frame::want() const {
    const asset_pages* const from = game_.setup.assets.get();
    if (from == nullptr) return;
    for (std::uint32_t model = 0; model < game_.model_count; ++model) {
        for (std::uint32_t level = 0; level < coarsest; ++level) {
            if (wanted_.has(model, level))
                from->want(from->of, asset_pages::level(model, level), frame_ + asset_pages::delay);
        }
    }
}

void begin_assets(game& game, std::uint32_t) {
    if (game.setup.assets) game.setup.assets->begin_frame(game.setup.assets->of, game.frame);
}

namespace {

const std::byte* page_for(const game& game, std::uint32_t page) {
    const asset_pages* const from = game.setup.assets.get();
    return from != nullptr ? from->need(from->of, page, game.shown().frame) : nullptr;
}

void take_levels(game& game, std::size_t model) {
    for (std::uint32_t level = 0; level < lod_count; ++level) {
        const std::byte* page = nullptr;
        if (level != coarsest && game.levels_shown.has(model, level))
            page = page_for(game, asset_pages::level(model, level));
        game.levels[model][level] = page != nullptr ? reinterpret_cast<const model_vertex*>(page)
                                                    : own_vertices(game.models[model], level);
    }
}

}  // namespace

void take_assets(game& game, std::uint32_t) {
    for (std::uint32_t model = 0; model < game.model_count; ++model) take_levels(game, model);
    const moment shown = game.shown();
    for (visible_body& body : game.visible.first(game.visible_count)) {
        const character& who = shown.characters[body.owner];
        // A clip that has changed since is shown as the model has it.
        const bool fits = who.gait != no_gait &&
                          who.gait / asset_pages::variants ==
                              asset_pages::gait(who.model, who.clip, 0) / asset_pages::variants;
        body.poses = fits ? reinterpret_cast<const joint_pose*>(page_for(game, who.gait)) : nullptr;
    }
}

}  // namespace arena
