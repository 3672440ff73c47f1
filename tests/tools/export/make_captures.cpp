// Writes the captures made by hand into a folder, for export_test.py.
#include "hand_made.hpp"

#include <cstdio>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fputs("make_captures: say the folder.\n", stderr);
        return 2;
    }
    for (const auto& [name, made] : hand_made::all()) {
        const std::string path = std::string(arguments[1]) + "/" + name + ".braid";
        const braid::status went = braid::profile::write_capture(made, path);
        if (went) continue;
        std::fprintf(stderr, "make_captures: %s\n", went.text.c_str());
        return 1;
    }
    return 0;
}
