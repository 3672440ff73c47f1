#pragma once
// What two modules share and the host has never heard of. SOUND_WIDE: a later version.

namespace world {

struct tone {
#if defined(SOUND_WIDE)
    double pitch = 440;
#else
    float pitch = 440;
#endif
};

}  // namespace world
