// Two schedulers without observers, for environment_test.py.
#include <braid/braid.hpp>

int main() {
    braid::scheduler first({.name = "first", .workers = 1});
    braid::scheduler second({.name = "second", .workers = 0});
    for (int i = 0; i < 100; ++i) {
        first.wait(first.spawn({.name = "recorded"}, [] {}));
        second.wait(second.spawn({.name = "not recorded"}, [] {}));
    }
}
