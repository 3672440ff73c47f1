#pragma once
// What host and modules of the tests share. WORLD_SPEED: a later version of it.

#include <vector>

namespace world {

struct place {
    union {
        float x = 0, left;
    };
    union {
        float y = 0, up;
    };
};

struct character {
#if defined(WORLD_SPEED)
    place at;
    int health = 100;
    float speed = 1;
#else
    place at;
    int health = 100;
#endif
};

struct game {
    int frame = 0;
    character* first = nullptr;
    std::vector<int> scores;
};

struct input {
    int pressed = 0;
    bool (*is_down)(const input&, char key) = nullptr;
};

}  // namespace world
