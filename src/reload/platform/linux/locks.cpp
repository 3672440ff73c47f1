// Lock files. flock() ends with its process, so a lock that nobody holds that way is a note only.
#include "reload/platform/platform.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {
namespace {

/// The first number in the text; 0: there is none.
std::int64_t number_in(const char* text) {
    while (*text != '\0' && (*text < '0' || *text > '9')) ++text;
    return std::strtoll(text, nullptr, 10);
}

/// When the process began, in ns since 1970 and some 10 ms late at most; INT64_MIN: unknown.
std::int64_t began_ns(std::int64_t process) {
    std::string text(1024, '\0');
    const std::string path = "/proc/" + std::to_string(process) + "/stat";
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return INT64_MIN;
    const ssize_t got = read(file, text.data(), text.size());
    close(file);
    text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    // The 20th number behind the name, which may hold anything: ticks since the machine began.
    std::size_t at = text.rfind(')');
    for (int i = 0; i < 20 && at != std::string::npos; ++i) at = text.find(' ', at + 1);
    if (at == std::string::npos) return INT64_MIN;
    const std::int64_t ticks = std::strtoll(text.c_str() + at, nullptr, 10);
    timespec boot, calendar;
    clock_gettime(CLOCK_BOOTTIME, &boot);
    clock_gettime(CLOCK_REALTIME, &calendar);
    const std::int64_t s = calendar.tv_sec - boot.tv_sec;
    return s * 1'000'000'000 + calendar.tv_nsec - boot.tv_nsec +
           ticks * (1'000'000'000 / sysconf(_SC_CLK_TCK));
}

lock_owner owner_of(int file, std::int64_t written_ns, std::int64_t& process) {
    if (flock(file, LOCK_SH | LOCK_NB) != 0) return lock_owner::holds;
    flock(file, LOCK_UN);
    char text[64] = {};
    if (pread(file, text, sizeof text - 1, 0) < 0) return lock_owner::unknown;
    process = number_in(text);
    if (process <= 0 || process > INT32_MAX) return lock_owner::unknown;
    const bool gone = kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
    // Numbers are used again: a process that began after the lock was written did not write it.
    constexpr std::int64_t margin_ns = 2'000'000'000;
    const bool another = began_ns(process) > written_ns + margin_ns;
    return gone || another ? lock_owner::dead : lock_owner::alive;
}

}  // namespace

lock_state look_at_lock(const std::string& path) {
    lock_state found;
    if (!look_at(path, found.mark)) return found;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    // A lock that cannot be read can be still, as one without a number.
    found.owner = lock_owner::unknown;
    if (file >= 0) {
        found.owner = owner_of(file, found.mark.written_ns, found.process);
        close(file);
    } else if (errno == ENOENT) {
        found.owner = lock_owner::none;
    }
    return found;
}

void remove_lock(const std::string& path, const file_mark& mark) {
    file_mark now;
    if (look_at(path, now) && now == mark) unlink(path.c_str());
}

held_lock::~held_lock() {
    if (file_ < 0) return;
    unlink(path_.c_str());
    close(file_);
}

status held_lock::take(const std::string& path) {
    for (;;) {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
        if (file < 0 || flock(file, LOCK_EX) != 0) {
            const int code = errno;
            if (file >= 0) close(file);
            return {code, "cannot lock '" + path +
                              "': " + std::error_code(code, std::generic_category()).message()};
        }
        // The owner before may have removed the file that this one was waiting for.
        struct stat ours;
        file_mark there;
        if (fstat(file, &ours) == 0 && look_at(path, there) && there.inode == ours.st_ino) {
            file_ = file;
            path_ = path;
            break;
        }
        close(file);
    }
    const std::string number = std::to_string(getpid()) + "\n";
    if (ftruncate(file_, 0) != 0 || pwrite(file_, number.data(), number.size(), 0) < 0) {
        return {errno, "cannot write to '" + path + "'"};
    }
    return {};
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
