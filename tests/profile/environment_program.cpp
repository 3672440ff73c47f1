// Two schedulers without observers, for environment_test.py.
#include <braid/braid.hpp>

int main() {
    // No line says that a task took long: one also does when its thread loses its core.
    braid::scheduler first({.name = "first", .workers = 1, .long_task = {}});
    braid::scheduler second({.name = "second", .workers = 0, .long_task = {}});
    for (int i = 0; i < 100; ++i) {
        first.wait(first.spawn({.name = "recorded"}, [] {}));
        second.wait(second.spawn({.name = "not recorded"}, [] {}));
    }
}
