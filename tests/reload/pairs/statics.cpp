// expect: static world::counter begins anew
// expect: static world::count()::calls begins anew
// never: static world::table
namespace world {
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
