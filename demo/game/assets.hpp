// Levels of detail as pages of the platform's.
#pragma once

#include "game.hpp"

namespace arena {

inline constexpr std::uint32_t coarsest = lod_count - 1;  // is no page: the model always has it

inline const model_vertex* own_vertices(const model_view& model, std::uint32_t level) {
    return model.vertices().data() + model.header().lods[level].first_vertex;
}

/// The rule by which a frame chooses: what was wanted asset_pages::delay frames ago is shown, and
/// what would be shown now is wanted for as many frames later.
class levels_of_frame {
public:
    levels_of_frame(game&, std::uint64_t frame);

    /// The level in which that model is shown, where `level` is the right one.
    std::uint32_t show(std::size_t model, std::uint32_t level);
    /// Once, after all were shown.
    void want() const;

private:
    game& game_;
    std::uint64_t frame_;
    const level_set& ready_;
    level_set& wanted_;
};

}  // namespace arena
