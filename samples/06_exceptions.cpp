// A failure travels along the edges: successors are cancelled and carry its cause.
#include <braid/braid.hpp>

#include <cstdio>
#include <stdexcept>

int main() {
    braid::scheduler scheduler;
    auto decode = scheduler.async([]() -> int { throw std::runtime_error("bad checksum"); });
    auto upload = std::move(decode).then([](int texture) { return texture + 1; });
    try {
        upload.get();
    } catch (const std::runtime_error& e) {
        std::printf("no texture: %s\n", e.what());
        return 0;
    }
    return 1;
}
