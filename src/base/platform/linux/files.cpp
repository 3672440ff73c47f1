#include "base/platform/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace braid::platform {

int open_to_read(const char* path, bool direct) noexcept {
    int descriptor = -1;
    do {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | (direct ? O_DIRECT : 0));
    } while (descriptor < 0 && errno == EINTR);
    if (descriptor < 0) return -errno;
    struct stat what{};
    if (fstat(descriptor, &what) == 0 && S_ISDIR(what.st_mode)) {
        close(descriptor);
        return -EISDIR;
    }
    return descriptor;
}

void close_file(int descriptor) noexcept { close(descriptor); }

std::int64_t size_of_file(int descriptor) noexcept {
    struct stat what{};
    return fstat(descriptor, &what) == 0 ? static_cast<std::int64_t>(what.st_size) : -errno;
}

std::size_t direct_alignment(int descriptor) noexcept {
    // The file system's block is at least the device's.
    struct stat what{};
    const bool known = fstat(descriptor, &what) == 0 && what.st_blksize > 0;
    return known ? std::min<std::size_t>(static_cast<std::size_t>(what.st_blksize), 4096) : 4096;
}

std::int64_t read_pieces(int descriptor, const file_piece* pieces, unsigned count,
                         std::uint64_t offset) noexcept {
    iovec vectors[most_pieces];
    count = std::min(count, most_pieces);
    for (unsigned i = 0; i < count; ++i) vectors[i] = {pieces[i].data, pieces[i].bytes};
    while (true) {
        const ssize_t got =
            preadv(descriptor, vectors, static_cast<int>(count), static_cast<off_t>(offset));
        if (got >= 0) return got;
        if (errno != EINTR) return -errno;
    }
}

void words_of_error(int error, char* to, std::size_t room) noexcept {
    char own[128];
    // The one of GNU: what it returns need not lie in `own`.
    std::snprintf(to, room, "%s", strerror_r(error, own, sizeof own));
}

}  // namespace braid::platform
