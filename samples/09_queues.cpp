// A named queue has threads of its own: slow work there delays nothing elsewhere.
#include <braid/braid.hpp>

#include <cstdio>
#include <thread>
#include <vector>

int main() {
    braid::scheduler scheduler;
    std::vector<int> written;
    {
        braid::queue log(
            scheduler,
            {.name = "log", .threads = 1, .capacity = 8, .full = braid::when_full::grow});
        for (int i = 0; i < 20; ++i) log.push([&written, i] { written.push_back(i); });
        // Its one thread starts them in order. (drain() would help, as a second thread.)
        while (log.size() != 0) std::this_thread::yield();
    }
    for (int i = 0; i < 20; ++i) {
        if (written[static_cast<std::size_t>(i)] != i) return 1;
    }
    std::printf("%zu lines in order\n", written.size());
}
