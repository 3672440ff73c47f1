// refused: pointed to item and points to thing
struct item {
    int a;
};
struct thing {
    int a;
};
struct state {
#if defined(AFTER)
    thing* at;
#else
    item* at;
#endif
    item one;
    thing two;
};
[[gnu::used]] state the_state;
