// A watched folder is inotify; wake() is an eventfd that the same poll() sees.
#include "reload/platform/platform.hpp"

#include <limits.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <mutex>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

struct folder_watch::state {
    int events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    int woken = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    std::mutex mutex;
    std::map<int, std::string> folders;  // by watch
};

folder_watch::folder_watch() : state_(new state) {}

folder_watch::~folder_watch() {
    if (state_->events >= 0) close(state_->events);
    if (state_->woken >= 0) close(state_->woken);
    delete state_;
}

status folder_watch::add(const std::string& folder) {
    // A writer that closes, a rename, and, for symbolic links, a creation. A removed lock counts.
    const int watch = inotify_add_watch(
        state_->events, folder.c_str(),
        IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_ONLYDIR);
    if (watch < 0) {
        const int code = errno;
        return {code, "cannot watch the folder '" + folder +
                          "': " + std::error_code(code, std::generic_category()).message()};
    }
    const std::lock_guard lock(state_->mutex);
    state_->folders[watch] = folder;
    return {};
}

bool folder_watch::wait(std::int64_t timeout_ns, std::vector<std::string>& changed, bool& all) {
    const std::int64_t ms = timeout_ns < 0 ? -1 : timeout_ns / 1'000'000 + 1;
    pollfd both[] = {{state_->events, POLLIN, 0}, {state_->woken, POLLIN, 0}};
    poll(both, 2, static_cast<int>(std::min<std::int64_t>(ms, INT_MAX)));
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t cleared = read(state_->woken, &times, sizeof times);
    alignas(inotify_event) char buffer[16 * 1024];
    const ssize_t got = read(state_->events, buffer, sizeof buffer);
    const std::lock_guard lock(state_->mutex);
    for (ssize_t at = 0; at < got;) {
        const auto* const event = reinterpret_cast<const inotify_event*>(buffer + at);
        at += static_cast<ssize_t>(sizeof *event + event->len);
        all = all || (event->mask & IN_Q_OVERFLOW) != 0;
        const auto folder = state_->folders.find(event->wd);
        if (folder == state_->folders.end() || event->len == 0) continue;
        std::string path = folder->second + "/" + event->name;
        // A file that was only just made is empty; what fills it closes it.
        if ((event->mask & IN_CREATE) != 0 && !is_symbolic_link(path)) continue;
        changed.push_back(std::move(path));
    }
    return !changed.empty() || all;
}

void folder_watch::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t wrote = write(state_->woken, &one, sizeof one);
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
