// A further source of a module, which has code and no types.
extern void nothing();
void nothing() {}
