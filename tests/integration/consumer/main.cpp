#include <braid/braid.hpp>

#include <cstdio>

int doubled_by_a_coroutine(braid::scheduler& scheduler, int number);
#if defined(CONSUMER_TRACY)
int zones_of_ten_tasks();
#endif
#if defined(CONSUMER_PAGES)
std::size_t bytes_of_a_page(braid::scheduler& scheduler);
#endif

int main() {
    int value = 0;
    braid::scheduler scheduler;
    const auto task = scheduler.spawn({.name = "answer"}, [&value] { value = 42; });
    scheduler.wait(task);
    if (doubled_by_a_coroutine(scheduler, 21) != 42) return 1;

#if defined(CONSUMER_TRACY)
    if (zones_of_ten_tasks() != 10) return 1;
#endif
#if defined(CONSUMER_PAGES)
    if (bytes_of_a_page(scheduler) != 1000) return 1;
#endif
    const braid::version_number version = braid::library_version();
    std::printf("braid %d.%d.%d says %d\n", version.major, version.minor, version.patch, value);
    return value == 42 && version.minor == BRAID_VERSION_MINOR ? 0 : 1;
}
