// The second module; a third one, horn, is built from it, too.
#include "tone.hpp"

#include <braid/reload/export.hpp>

namespace world {

int play(int volume) { return SOUND_VALUE * volume; }
int mix(const tone& a, const tone& b) { return static_cast<int>(a.pitch + b.pitch); }
BRAID_RELOAD_EXPORT(play, int(int))
BRAID_RELOAD_EXPORT(mix, int(const tone&, const tone&))

}  // namespace world
