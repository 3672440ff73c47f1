// What the game may have in pages: each clip of each model in many variants, which follow from
// their number alone; and the vertices of all levels of detail but the coarsest. Made when they are
// needed, or once for a pack.
#pragma once

#include "../../game/game_api.hpp"
#include "../../game/model.hpp"
#include "../world.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace arena::host {

class all_assets {
public:
    /// The models must outlive it.
    explicit all_assets(const model_blocks& models);

    /// Numbers of pages, as the game has them; those that are none are empty.
    static std::uint32_t size();
    bool is_page(std::uint32_t page) const;
    /// "Testwuson.Wuson_Run.17", "Testwuson.level0"
    std::string name(std::uint32_t page) const;
    std::size_t bytes(std::uint32_t page) const;
    /// Fills as many bytes, aligned as what they are.
    void make(std::uint32_t page, std::span<std::byte> to) const;
    /// Of everything that they follow from.
    std::uint64_t hash() const;

private:
    const model_clip& clip_of(std::uint32_t page) const;
    const model_view& model_of(std::uint32_t page) const;
    std::span<const model_vertex> level_of(std::uint32_t page) const;
    void make_gait(std::uint32_t page, std::span<joint_pose> to) const;

    std::vector<model_view> models_;
};

/// None: every model looks and walks as it was imported.
asset_pages no_assets();

/// All of them in memory: gaits are made when the game needs them, levels are the models' own. Any
/// thread. What is not needed takes room but no memory: the system gives that when it is written.
class made_assets {
public:
    explicit made_assets(const all_assets& all);
    const asset_pages& pages() const { return table_; }

private:
    const std::byte* need(std::uint32_t page);

    const all_assets& all_;
    std::mutex lock_;
    std::vector<std::size_t> places_;  // by page, in gaits_; one more
    std::unique_ptr<std::byte[]> gaits_;
    std::vector<bool> made_;
    asset_pages table_;
};

}  // namespace arena::host
