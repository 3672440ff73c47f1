// Writes the captures of scenes.hpp into a folder: write_scenes FOLDER.
#include "scenes.hpp"

#include <cstdio>
#include <string>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "write_scenes: name a folder.\n");
        return 2;
    }
    const std::pair<const char*, braid::profile::capture (*)()> scenes[] = {
        {"healthy", braid_test::healthy_scene},
        {"affinity", braid_test::affinity_scene},
        {"external", braid_test::external_scene},
        {"suspended", braid_test::suspended_scene},
        {"straggler", braid_test::straggler_scene},
        {"fine", braid_test::fine_scene},
        {"joins", braid_test::joins_scene},
        {"preemption", braid_test::preemption_scene},
        {"device",
         [] {
             braid::profile::capture c = braid_test::healthy_scene();
             c.lanes.back().kind = braid::profile::lane_kind::device;
             c.lanes.back().clock_error = 5'012;
             return c;
         }},
        {"frameless", [] { return braid_test::scene_builder().make(10); }},
    };
    for (const auto& [name, make] : scenes) {
        const std::string path = std::string(arguments[1]) + "/" + name + ".braid";
        if (const braid::status went = braid::profile::write_capture(make(), path); !went) {
            std::fprintf(stderr, "write_scenes: %s.\n", went.text.c_str());
            return 2;
        }
    }
    return 0;
}
