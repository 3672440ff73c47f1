#pragma once
// What host and modules of the tests share. WORLD_SPEED: a later version of it.

#include <vector>

namespace world {

struct place {
    float x = 0, y = 0;
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
};

}  // namespace world
