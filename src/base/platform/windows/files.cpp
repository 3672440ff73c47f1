#include "base/platform/files.hpp"
#include "base/platform/windows/system.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace braid::platform {
namespace {

constexpr std::size_t path_limit = 32'768;  // of the system

/// A handle has 32 significant bits, also in programs of 64 bits.
HANDLE handle_of(int descriptor) noexcept {
    return reinterpret_cast<HANDLE>(static_cast<std::intptr_t>(descriptor));
}

/// The numbers of <cerrno>, which those who read files compare with.
int error_number(DWORD error) noexcept {
    switch (error) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_NAME:
        case ERROR_BAD_NETPATH:
            return ENOENT;
        case ERROR_ACCESS_DENIED:
        case ERROR_SHARING_VIOLATION:
        case ERROR_LOCK_VIOLATION:
            return EACCES;
        case ERROR_TOO_MANY_OPEN_FILES:
            return EMFILE;
        case ERROR_INVALID_HANDLE:
            return EBADF;
        case ERROR_INVALID_PARAMETER:
            return EINVAL;
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
            return ENOMEM;
        default:
            return EIO;
    }
}

int last_error() noexcept { return -error_number(GetLastError()); }

int open_wide(const wchar_t* path, bool direct) noexcept {
    const DWORD what = GetFileAttributesW(path);
    if (what != INVALID_FILE_ATTRIBUTES && (what & FILE_ATTRIBUTE_DIRECTORY) != 0) return -EISDIR;
    const HANDLE file =
        CreateFileW(path, GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                    nullptr, OPEN_EXISTING, direct ? FILE_FLAG_NO_BUFFERING : 0, nullptr);
    if (file == INVALID_HANDLE_VALUE) return last_error();
    return static_cast<int>(reinterpret_cast<std::intptr_t>(file));
}

}  // namespace

int open_to_read(const char* path, bool direct) noexcept {
    // Not on the stack of a task, which may be small. UTF-16 has at most as many units.
    const std::size_t units = std::strlen(path) + 1;
    if (units > path_limit) return -ENAMETOOLONG;
    auto* const wide =
        static_cast<wchar_t*>(HeapAlloc(GetProcessHeap(), 0, units * sizeof(wchar_t)));
    if (wide == nullptr) return -ENOMEM;
    const int result = widen(path, wide, units) ? open_wide(wide, direct) : -ENOENT;
    HeapFree(GetProcessHeap(), 0, wide);
    return result;
}

void close_file(int descriptor) noexcept { CloseHandle(handle_of(descriptor)); }

std::int64_t size_of_file(int descriptor) noexcept {
    LARGE_INTEGER size{};
    return GetFileSizeEx(handle_of(descriptor), &size) != 0 ? size.QuadPart : last_error();
}

std::size_t direct_alignment(int) noexcept { return 4096; }

std::int64_t read_pieces(int descriptor, const file_piece* pieces, unsigned count,
                         std::uint64_t offset) noexcept {
    std::int64_t all = 0;
    for (unsigned i = 0; i < std::min(count, most_pieces); ++i) {
        // In parts: one call reads less than 4 GiB.
        for (std::size_t done = 0; done < pieces[i].bytes;) {
            constexpr std::size_t most = std::size_t{1} << 30;
            OVERLAPPED at{};
            at.Offset = static_cast<DWORD>(offset);
            at.OffsetHigh = static_cast<DWORD>(offset >> 32);
            DWORD got = 0;
            const std::size_t wanted = std::min(pieces[i].bytes - done, most);
            const bool good =
                ReadFile(handle_of(descriptor), static_cast<char*>(pieces[i].data) + done,
                         static_cast<DWORD>(wanted), &got, &at) != 0;
            if (!good && GetLastError() != ERROR_HANDLE_EOF) return all != 0 ? all : last_error();
            all += got;
            offset += got;
            done += got;
            if (got < wanted) return all;
        }
    }
    return all;
}

void words_of_error(int error, char* to, std::size_t room) noexcept {
    char words[128] = "";
    if (strerror_s(words, sizeof words, error) != 0) words[0] = '\0';
    std::snprintf(to, room, "%s", words);
}

}  // namespace braid::platform
