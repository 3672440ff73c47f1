// The smallest program: two tasks, one after the other.
#include <braid/braid.hpp>

#include <cstdio>

int main() {
    braid::scheduler scheduler;
    auto animate = scheduler.spawn({.name = "animate"}, [] { std::puts("animate"); });
    auto skin = scheduler.spawn({.name = "skin", .after = {animate}}, [] { std::puts("skin"); });
    scheduler.wait(skin);
}
