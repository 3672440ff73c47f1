// Lock files. flock() ends with its process, so a lock that nobody holds that way is a note only.
#include "reload/platform/platform.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {
namespace {

/// The first number in the text; 0: there is none.
std::int64_t number_in(const char* text) {
    while (*text != '\0' && (*text < '0' || *text > '9')) ++text;
    return std::strtoll(text, nullptr, 10);
}

lock_owner owner_of(int file, std::int64_t& process) {
    if (flock(file, LOCK_SH | LOCK_NB) != 0) return lock_owner::holds;
    flock(file, LOCK_UN);
    char text[64] = {};
    if (pread(file, text, sizeof text - 1, 0) < 0) return lock_owner::unknown;
    process = number_in(text);
    if (process <= 0 || process > INT32_MAX) return lock_owner::unknown;
    const bool gone = kill(static_cast<pid_t>(process), 0) != 0 && errno == ESRCH;
    return gone ? lock_owner::dead : lock_owner::alive;
}

}  // namespace

lock_state look_at_lock(const std::string& path) {
    lock_state found;
    if (!look_at(path, found.mark)) return found;
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    // A lock that cannot be read can be still, as one without a number.
    found.owner = lock_owner::unknown;
    if (file >= 0) {
        found.owner = owner_of(file, found.process);
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
