// A pipeline: numbers are made one by one, worked on by all threads, and written in order.
#include <braid/braid.hpp>
#include <braid/fork_join.hpp>

#include <cstdio>
#include <optional>
#include <string>

int main() {
    braid::scheduler scheduler;
    int made = 0;
    std::string lines;
    braid::pipeline(scheduler, {.tokens = 8},
                    braid::serial([&] { return made < 5 ? std::optional(made++) : std::nullopt; }),
                    braid::parallel([](int i) { return std::to_string(i * i); }),
                    braid::serial([&](const std::string& square) { lines += square + '\n'; }));
    std::fputs(lines.c_str(), stdout);
    return lines == "0\n1\n4\n9\n16\n" ? 0 : 1;
}
