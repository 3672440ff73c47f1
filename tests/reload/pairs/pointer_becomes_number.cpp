// refused: was item* and is long, which do not become each other
struct item {
    int a;
};
struct state {
#if defined(AFTER)
    long at;
#else
    item* at;
#endif
    item one;
};
[[gnu::used]] state the_state;
