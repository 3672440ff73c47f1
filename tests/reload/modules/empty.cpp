// A shared object that knows nothing of reloading.
extern "C" int nothing() { return 0; }
