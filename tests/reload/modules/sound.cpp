// The second module. With SOUND_PLAYS_GAME it is one more user of world::tone.
#include "world.hpp"

#include <braid/reload/export.hpp>

namespace world {

int play(const tone& what) { return SOUND_VALUE + static_cast<int>(what.pitch) * 0; }
BRAID_RELOAD_EXPORT(play, int(const tone&))

}  // namespace world
