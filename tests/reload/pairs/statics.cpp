// expect: static world::counter begins anew
// expect: static world::count()::calls begins anew
// expect: static world::of_a_thread
// never: static world::table
// never: tls_guard
#include <string>
namespace world {
[[gnu::used]] thread_local std::string of_a_thread(40, 'a');
[[gnu::used]] int counter = 3;
[[gnu::used]] const int table[] = {1, 2, 3};
[[gnu::used]] int count() {
    static int calls = 1;
    return calls++;
}
}  // namespace world
struct state {
    int a;
};
[[gnu::used]] state the_state;
// never: REFUSED
