// expect: named::id changed int is widened to long
struct named {
#if defined(AFTER)
    long id;
#else
    int id;
#endif
};
struct state : named {
    float x;
};
[[gnu::used]] state the_state;
