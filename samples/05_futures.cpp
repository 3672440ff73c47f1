// The value of a task, and what follows from it. A future allocates nothing beside its task.
#include <braid/braid.hpp>

#include <cstdio>
#include <memory>
#include <string>

int main() {
    braid::scheduler scheduler;
    auto raw =
        scheduler.async({.name = "load"}, [] { return std::make_unique<std::string>("mesh"); });
    auto mesh = std::move(raw).then(
        [](std::unique_ptr<std::string> bytes) { return *bytes + ", optimised"; });
    auto vertices = scheduler.async([] { return 4'637; });
    std::printf("%d vertices: %s\n", vertices.get(), mesh.get().c_str());
}
