// The exported table of functions.
#include "sound/sound_api.hpp"

#include "sound/mixer.hpp"

#include <braid/reload/export.hpp>

#include <new>
#include <type_traits>

namespace arena {
namespace {

static_assert(std::is_trivially_destructible_v<mixer>, "nobody destroys it");

constexpr sound_api api{
    .memory_size = [] { return sizeof(mixer); },
    .create = [](const mixer_options& options,
                 std::span<std::byte> memory) { return new (memory.data()) mixer(options); },
    .begin_frame = [](mixer& own,
                      std::span<const sound_trigger> triggers) { own.begin_frame(triggers); },
    .parts = [](const mixer& own) { return own.parts(); },
    .run = [](mixer& own, std::uint32_t part) { own.run(part); },
    .finish_frame = [](mixer& own) { own.finish_frame(); },
    .samples = [](const mixer& own) { return own.samples(); },
    .hash = [](const mixer& own) { return own.hash(); }};

}  // namespace

const sound_api* arena_sound_api() { return &api; }

BRAID_RELOAD_EXPORT(arena_sound_api, const sound_api*())

}  // namespace arena
