#pragma once
// State that only the module knows. COLONY says which version of it.

#include <braid/reload/arena.hpp>

#include <span>

namespace colony {

#if COLONY == 1

struct ant {
    int energy = 10;
    ant* next = nullptr;
};
struct nest {
    std::span<ant> ants;
    ant* queen = nullptr;
    int steps = 0;
};

#elif COLONY == 2

struct ant {
    ant* next = nullptr;
    long energy = 10;
    float speed = 2;
};
struct nest {
    int steps = 0;
    ant* queen = nullptr;
    std::span<ant> ants;
    int food = 50;
};

#elif COLONY == 3  // what steps have become does not fit

struct ant {
    signed char energy = 10;
    ant* next = nullptr;
};
struct nest {
    std::span<ant> ants;
    ant* queen = nullptr;
    int steps = 0;
};

#elif COLONY == 4  // a field that nobody can take over

struct ant {
    int energy = 10;
    ant* next = nullptr;
};
struct nest {
    std::span<ant> ants;
    ant* queen = nullptr;
    int steps = 0;
    void (*action)() = nullptr;
};

#elif COLONY == 6 || COLONY == 7  // a field moves into a struct; 7 says so

struct body {
    float speed = 2;
    int energy = 10;
};
struct ant {
    body own;
    ant* next = nullptr;
};
struct nest {
    std::span<ant> ants;
    ant* queen = nullptr;
    int steps = 0;
};

#else  // its own rule refuses

struct ant {
    ant* next = nullptr;
    int energy = 10;
};
struct nest {
    int steps = 0;
    std::span<ant> ants;
    ant* queen = nullptr;
};
inline const char* reload_invariant(const nest& n) {
    return n.steps > 2 ? "too many steps" : nullptr;
}

#endif

/// Where an ant has its energy.
auto& energy_of(auto& one) {
#if COLONY == 6 || COLONY == 7
    return one.own.energy;
#else
    return one.energy;
#endif
}

}  // namespace colony
