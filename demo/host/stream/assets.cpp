#include "assets.hpp"

#include "../../game/hash_bytes.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstring>
#include <numbers>

namespace arena::host {
namespace {

constexpr std::uint32_t variants = asset_pages::variants;

/// 0 … 1, the same for the same numbers.
float unit(std::uint32_t a, std::uint32_t b) {
    std::uint32_t x = a * 747796405u + b * 2891336453u + 277803737u;
    x = (x >> ((x >> 28) + 4) ^ x) * 277803737u;
    return static_cast<float>((x >> 22 ^ x) >> 8) * (1.0f / 16777216.0f);
}

joint_pose mix(const joint_pose& a, const joint_pose& b, float t) {
    float dot = 0;
    for (int i = 0; i < 4; ++i) dot += a.rotation[i] * b.rotation[i];
    const float u = dot < 0 ? -t : t;
    joint_pose out{};
    for (int i = 0; i < 4; ++i) out.rotation[i] = a.rotation[i] * (1 - t) + b.rotation[i] * u;
    for (int i = 0; i < 3; ++i) {
        out.translation[i] = a.translation[i] * (1 - t) + b.translation[i] * t;
    }
    return out;
}

}  // namespace

all_assets::all_assets(const model_blocks& models) {
    for (const auto& block : models) models_.emplace_back(block.data());
}

std::uint32_t all_assets::size() { return asset_pages::count; }

bool all_assets::is_page(std::uint32_t page) const {
    if (page >= asset_pages::levels_at) {
        page -= asset_pages::levels_at;
        return page / lod_count < models_.size() && page % lod_count + 1 < lod_count;
    }
    return page / variants / max_clips < models_.size() &&
           page / variants % max_clips < model_of(page).clips().size();
}

const model_view& all_assets::model_of(std::uint32_t page) const {
    return page < asset_pages::levels_at ? models_[page / variants / max_clips]
                                         : models_[(page - asset_pages::levels_at) / lod_count];
}

const model_clip& all_assets::clip_of(std::uint32_t page) const {
    return model_of(page).clips()[page / variants % max_clips];
}

std::span<const model_vertex> all_assets::level_of(std::uint32_t page) const {
    const model_view& model = model_of(page);
    const model_lod& lod = model.header().lods[(page - asset_pages::levels_at) % lod_count];
    return model.vertices().subspan(lod.first_vertex, lod.vertex_count);
}

std::string all_assets::name(std::uint32_t page) const {
    if (page >= asset_pages::levels_at) {
        return fmt::format("{}.level{}", model_of(page).name(),
                           (page - asset_pages::levels_at) % lod_count);
    }
    return fmt::format("{}.{}.{}", model_of(page).name(), clip_of(page).name, page % variants);
}

std::size_t all_assets::bytes(std::uint32_t page) const {
    if (page >= asset_pages::levels_at) return level_of(page).size_bytes();
    return std::size_t{model_of(page).header().joint_count} * clip_of(page).frame_count *
           sizeof(joint_pose);
}

void all_assets::make(std::uint32_t page, std::span<std::byte> to) const {
    if (page >= asset_pages::levels_at) {
        std::memcpy(to.data(), level_of(page).data(), to.size());
    } else {
        make_gait(page, {reinterpret_cast<joint_pose*>(to.data()), to.size() / sizeof(joint_pose)});
    }
}

/// The clip resampled: it hurries here and there, and each joint is turned a little.
void all_assets::make_gait(std::uint32_t page, std::span<joint_pose> all) const {
    const model_view& model = model_of(page);
    const model_clip& clip = clip_of(page);
    const std::uint32_t joints = model.header().joint_count, frames = clip.frame_count;
    const joint_pose* const from = model.poses().data() + clip.first_pose;
    const float shift = unit(page, 1), hurry = 0.4f * unit(page, 2);
    for (std::uint32_t f = 0; f < frames; ++f) {
        const float turn = static_cast<float>(f) / static_cast<float>(frames) + shift;
        float at =
            static_cast<float>(f) + hurry * (1 + std::sin(2 * std::numbers::pi_v<float> * turn));
        at = std::fmod(at, static_cast<float>(frames));
        const auto first = std::min(static_cast<std::uint32_t>(at), frames - 1);
        const std::uint32_t next = first + 1 < frames ? first + 1 : 0;
        for (std::uint32_t j = 0; j < joints; ++j) {
            joint_pose pose = mix(from[first * joints + j], from[next * joints + j],
                                  at - static_cast<float>(first));
            for (std::uint32_t i = 0; i < 3; ++i) {
                pose.rotation[i] += 0.06f * (unit(page, 3 + 3 * j + i) - 0.5f);
            }
            all[std::size_t{f} * joints + j] = pose;
        }
    }
}

std::uint64_t all_assets::hash() const {
    constexpr std::uint64_t version = 2;  // of make()
    value_hash all(version);
    for (const model_view& model : models_) all.add(model.header().checksum);
    return all.value();
}

asset_pages no_assets() {
    return {
        .of = nullptr,
        .begin_frame = [](void*, std::uint64_t) {},
        .want = [](void*, std::uint32_t, std::uint64_t) {},
        .need = [](void*, std::uint32_t, std::uint64_t) -> const std::byte* { return nullptr; }};
}

made_assets::made_assets(const all_assets& all)
    : all_(all), made_(asset_pages::levels_at), table_(no_assets()) {
    places_.push_back(0);
    for (std::uint32_t page = 0; page < asset_pages::levels_at; ++page)
        places_.push_back(places_.back() + (all.is_page(page) ? all.bytes(page) : 0));
    gaits_ = std::make_unique_for_overwrite<std::byte[]>(places_.back());
    table_.of = this;
    table_.need = [](void* of, std::uint32_t page, std::uint64_t) {
        return static_cast<made_assets*>(of)->need(page);
    };
}

const std::byte* made_assets::need(std::uint32_t page) {
    if (page >= asset_pages::levels_at) return nullptr;
    const std::lock_guard lock(lock_);
    std::byte* const gait = gaits_.get() + places_[page];
    if (!made_[page]) all_.make(page, {gait, all_.bytes(page)});
    made_[page] = true;
    return gait;
}

}  // namespace arena::host
