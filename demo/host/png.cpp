#include "report.hpp"

#include <stdexcept>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb_image_write.h>

namespace arena::host {

void write_png(const std::filesystem::path& file, const renderer& picture) {
    const auto width = static_cast<int>(picture.width()),
               height = static_cast<int>(picture.height());
    if (!stbi_write_png(file.c_str(), width, height, 4, picture.pixels().data(), width * 4))
        throw std::runtime_error("cannot write " + file.string() + ".");
}

}  // namespace arena::host
