// A module whose builds do what a trial is to find. TRIED says which of them it is.
#include <braid/reload/arena.hpp>
#include <braid/reload/export.hpp>
#include <braid/reload/report.hpp>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#define TRIED_GOOD 1
#define TRIED_WIDE 2
#define TRIED_NOBODY 3
#define TRIED_NULL_CALL 4
#define TRIED_STATIC 5
#define TRIED_HANGS 6
#define TRIED_EXITS 7
#define TRIED_THROWS 8
#define TRIED_KILLED 9
#define TRIED_DEEP 10
#define TRIED_RULE 11
#define TRIED_RELOADED 12
#define TRIED_SECOND 13
#define TRIED_ABORTS 14
#define TRIED_LEAVES 15
#define TRIED_SIGNAL 16
#define TRIED_THROWS_LATE 17
#define TRIED_WIDE_TOO 18

namespace tried {

namespace reload = braid::reload;

struct pack {
#if TRIED == TRIED_WIDE || TRIED == TRIED_WIDE_TOO
    long food = 7;
    long steps = 0;
    std::unique_ptr<int> own;
    std::optional<std::string> said;
    std::vector<std::vector<int>> lists;
    std::vector<int> trail;
    std::string name;
#else
    int steps = 0;
    std::vector<int> trail;
    std::string name;
    std::unique_ptr<int> own;
    std::vector<std::vector<int>> lists;
    std::optional<std::string> said;
#endif
};

#if TRIED == TRIED_RULE
const char* reload_invariant(const pack& p) { return p.steps > 4 ? "too many steps" : nullptr; }
#endif

/// Not null: a sanitizer would say so, and no signal would come.
[[maybe_unused]] pack* nobody() {
    std::uintptr_t address = 16;
    asm volatile("" : "+r"(address));
    return reinterpret_cast<pack*>(address);
}

#if TRIED == TRIED_STATIC
int first = nobody()->steps;
#endif

using action = void(pack&);
[[maybe_unused]] action* no_action = nullptr;

[[maybe_unused]] [[gnu::noinline]] int dig(int deep) {
    char room[4096];
    room[deep % 4096] = static_cast<char>(deep);
    asm volatile("" : : "r"(room) : "memory");
    return deep < 0 ? 0 : dig(deep + 1) + room[deep % 4096];
}

[[gnu::noinline]] void act([[maybe_unused]] pack& p) {
    asm volatile("");  // not pure, so that it is called
#if TRIED == TRIED_NOBODY
    nobody()->steps = 1;
#elif TRIED == TRIED_NULL_CALL
    asm volatile("" : "+r"(no_action));
    no_action(p);
    asm volatile("");  // no jump instead of the call
#elif TRIED == TRIED_HANGS
    for (bool on = true; on;) asm volatile("" : "+r"(on));
#elif TRIED == TRIED_EXITS
    std::exit(3);
#elif TRIED == TRIED_LEAVES
    std::_Exit(4);
#elif TRIED == TRIED_THROWS
    throw std::runtime_error("no way");
#elif TRIED == TRIED_KILLED
    std::raise(SIGKILL);
#elif TRIED == TRIED_DEEP
    p.steps += dig(0);
#elif TRIED == TRIED_SECOND
    if (p.steps % 2 == 0) std::abort();
#elif TRIED == TRIED_ABORTS
    std::abort();
#elif TRIED == TRIED_SIGNAL
    std::raise(SIGFPE);
    asm volatile("");
#elif TRIED == TRIED_THROWS_LATE
    if (p.steps >= 8) throw std::runtime_error("too late");
#elif TRIED == TRIED_WIDE_TOO
    p.food = 8;
#endif
}

int step(reload::arena& state) {
    pack& p = state.root<pack>("pack");
    act(p);
    // What the state owns outside of the arena changes in place.
    if (p.own == nullptr) p.own = std::make_unique<int>(0);
    ++*p.own;
    if (p.lists.empty()) p.lists.resize(2);
    p.lists[1].push_back(2);
    p.lists[1][0] += 3;
    p.trail.push_back(1);
    p.trail[0] += 5;
    p.name += "a name that is not short";
    p.said = p.name + p.name;
#if TRIED == TRIED_WIDE || TRIED == TRIED_WIDE_TOO
    return static_cast<int>(++p.steps + 100 * p.food);
#else
    return ++p.steps;
#endif
}

/// What the state owns, added up.
long sum(reload::arena& state) {
    const pack& p = state.root<pack>("pack");
    long all = p.steps + *p.own + static_cast<long>(p.name.size() + p.said->size());
    for (const int one : p.trail) all += one;
    for (const int one : p.lists[1]) all += one;
    return all;
}

char last_report[256];

void reloaded([[maybe_unused]] const reload::report& went) {
#if TRIED == TRIED_RELOADED
    std::abort();
#endif
    std::snprintf(
        last_report, sizeof last_report, "%s from %s to %s: %llu objects, %llu bytes%s",
        went.module, went.old_build, went.new_build, static_cast<unsigned long long>(went.objects),
        static_cast<unsigned long long>(went.bytes), went.boundary_ns > 0 ? ", took time" : "");
}

const char* said_of_reload() { return last_report; }

BRAID_RELOAD_EXPORT(step, int(reload::arena&))
BRAID_RELOAD_EXPORT(sum, long(reload::arena&))
BRAID_RELOAD_EXPORT(said_of_reload, const char*())
BRAID_RELOAD_EXPORT(reloaded, void(const reload::report&))
BRAID_RELOAD_TYPE(pack)

}  // namespace tried
