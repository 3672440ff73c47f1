// The types of written_in_units.cpp; clang gives the declaration of such a class no name.
// type: -
// compiler: clang
// flags: -O0 -fdebug-types-section
// expect: city::street::lamps changed int is widened to long
// expect: city::house::rooms moved
#include "written_in_units.cpp"
