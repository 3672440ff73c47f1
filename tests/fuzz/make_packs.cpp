// Small packs to begin with: make_packs FOLDER
#include <braid/pages/pack_writer.hpp>

#include <cstdio>
#include <string>
#include <vector>

int main(int count, char** arguments) {
    if (count != 2) {
        std::fprintf(stderr, "make_packs: name the folder.\n");
        return 2;
    }
    for (const int pages : {0, 1, 3, 12}) {
        for (const int level : {0, 3}) {
            braid::pack_writer to(std::string(arguments[1]) + "/" + std::to_string(pages) + "." +
                                      std::to_string(level),
                                  {.level = level});
            for (int i = 0; i < pages; ++i) {
                const std::vector<std::byte> bytes(20 + 40 * static_cast<std::size_t>(i),
                                                   static_cast<std::byte>(i));
                to.add("page." + std::to_string(i), bytes);
            }
            if (to.finish()) continue;
            std::fprintf(stderr, "make_packs: %s.\n", to.error().c_str());
            return 1;
        }
    }
    return 0;
}
