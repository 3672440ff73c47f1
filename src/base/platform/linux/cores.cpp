// How many cores this process may really use: containers say so in the affinity mask and in the
// cgroup CPU quota, never in the core count.
#include "base/platform/platform.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace braid::platform {
namespace {

constexpr std::size_t path_limit = 1024;

/// As much of the file as fits, with a zero behind it; false when there is none. Not by <cstdio>,
/// which would allocate beside the user's memory hooks.
bool read_file(const char* path, char* text, std::size_t size) noexcept {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    std::size_t length = 0;
    while (length < size - 1) {
        const ssize_t n = read(file, text + length, size - 1 - length);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        length += static_cast<std::size_t>(n);
    }
    close(file);
    text[length] = '\0';
    return length != 0;
}

using path_text = char[path_limit];

/// False: it would not fit. A path that is cut short would name another file.
bool join(path_text& out, const char* folder, const char* rest) noexcept {
    const int length = std::snprintf(out, sizeof out, "%s%s", folder, rest);
    return length >= 0 && static_cast<std::size_t>(length) < sizeof out;
}

bool read_line(const char* folder, const char* name, char* line, std::size_t size) noexcept {
    path_text path;
    if (!join(path, folder, name)) return false;
    if (!read_file(path, line, size)) return false;
    line[std::strcspn(line, "\n")] = '\0';
    return true;
}

unsigned cores(double quota, double period) noexcept {
    if (quota <= 0 || period <= 0) return 0;
    const double value = quota / period;
    const auto whole = static_cast<unsigned>(value);
    return std::max(1U, whole + (value > whole ? 1U : 0U));
}

unsigned tighter(unsigned a, unsigned b) noexcept {
    if (a == 0 || b == 0) return a + b;
    return std::min(a, b);
}

unsigned v2_limit(const char* folder) noexcept {
    char line[128];
    if (!read_line(folder, "/cpu.max", line, sizeof line)) return 0;
    char quota[64];
    double period = 100'000;
    if (std::sscanf(line, "%63s %lf", quota, &period) < 1 || std::strcmp(quota, "max") == 0) {
        return 0;
    }
    return cores(std::strtod(quota, nullptr), period);
}

unsigned v1_limit(const char* folder) noexcept {
    char quota[64];
    char period[64];
    if (!read_line(folder, "/cpu.cfs_quota_us", quota, sizeof quota)) return 0;
    if (!read_line(folder, "/cpu.cfs_period_us", period, sizeof period)) return 0;
    return cores(std::strtod(quota, nullptr), std::strtod(period, nullptr));
}

// A limit set on any folder between the process's own and the mount counts, so walk upwards.
unsigned walk(const char* mount, const char* group, unsigned (*limit)(const char*)) noexcept {
    path_text folder;
    if (!join(folder, mount, group)) return 0;
    const std::size_t mount_length = std::strlen(mount);
    unsigned result = 0;
    while (true) {
        result = tighter(result, limit(folder));
        char* slash = std::strrchr(folder, '/');
        if (slash == nullptr || static_cast<std::size_t>(slash - folder) < mount_length) break;
        *slash = '\0';
    }
    return result;
}

bool names_cpu_controller(const char* controllers) noexcept {
    for (const char* at = controllers; at != nullptr && *at != '\0';) {
        const std::size_t length = std::strcspn(at, ",");
        if (length == 3 && std::strncmp(at, "cpu", 3) == 0) return true;
        at += length;
        if (*at == ',') ++at;
    }
    return false;
}

}  // namespace

unsigned quota_cores(const char* root) noexcept {
    path_text path;
    if (!join(path, root, "/proc/self/cgroup")) return 0;
    char text[16 * path_limit];
    if (!read_file(path, text, sizeof text)) return 0;
    unsigned result = 0;
    for (char *line = text, *next = nullptr; line != nullptr; line = next) {
        // hierarchy-id:controllers:path, with an empty controller list for version 2
        next = std::strchr(line, '\n');
        if (next != nullptr) *next++ = '\0';
        char* first = std::strchr(line, ':');
        char* second = first != nullptr ? std::strchr(first + 1, ':') : nullptr;
        if (second == nullptr) continue;
        *second = '\0';
        const char* group = std::strcmp(second + 1, "/") == 0 ? "" : second + 1;
        path_text mount;
        if (first[1] == '\0') {
            if (!join(mount, root, "/sys/fs/cgroup")) return 0;
            result = tighter(result, walk(mount, group, v2_limit));
        } else if (names_cpu_controller(first + 1)) {
            if (!join(mount, root, "/sys/fs/cgroup/cpu")) return 0;
            result = tighter(result, walk(mount, group, v1_limit));
        }
    }
    return result;
}

unsigned mask_cores() noexcept {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return static_cast<unsigned>(std::max(1, CPU_COUNT(&set)));
    }
    return static_cast<unsigned>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

unsigned usable_cores(const char* root) noexcept {
    return tighter(mask_cores(), quota_cores(root));
}

}  // namespace braid::platform
