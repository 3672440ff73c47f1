// Files and folders. What the system says about a failure becomes part of a sentence.
#include "reload/platform/platform.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {
namespace {

struct descriptor {
    int number = -1;
    ~descriptor() {
        if (number >= 0) close(number);
    }
};

std::int64_t ns_of(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

file_mark mark_of(const struct stat& s) {
    return {s.st_dev, s.st_ino, static_cast<std::uint64_t>(s.st_size), ns_of(s.st_mtim),
            ns_of(s.st_ctim)};
}

status failed(const char* what, const std::string& path) {
    const int code = errno;
    return {code, std::string(what) + " '" + path +
                      "': " + std::error_code(code, std::generic_category()).message()};
}

const char* kind_of(mode_t mode) {
    return S_ISDIR(mode) ? "a folder" : S_ISFIFO(mode) ? "a pipe" : "a device";
}

status read_all(int file, const std::string& path, std::vector<std::byte>& bytes) {
    std::size_t have = 0;
    while (have < bytes.size()) {
        const ssize_t got = read(file, bytes.data() + have, bytes.size() - have);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return failed("cannot read", path);
        if (got == 0) return {changed_meanwhile, "'" + path + "' changed while it was read"};
        have += static_cast<std::size_t>(got);
    }
    return {};
}

status write_all(int file, const std::string& path, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t wrote = write(file, bytes.data(), bytes.size());
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return failed("cannot write", path);
        bytes = bytes.subspan(static_cast<std::size_t>(wrote));
    }
    return {};
}

}  // namespace

bool look_at(const std::string& path, file_mark& mark) {
    struct stat s;
    if (stat(path.c_str(), &s) != 0) return false;
    mark = mark_of(s);
    return true;
}

bool is_symbolic_link(const std::string& path) {
    struct stat s;
    return lstat(path.c_str(), &s) == 0 && S_ISLNK(s.st_mode);
}

namespace {

/// NFS and SMB, whose leases are the server's: it refuses them for reasons of its own.
bool is_remote(int file) {
    constexpr std::uint32_t nfs = 0x6969, smb = 0x517b, cifs = 0xff534d42, smb2 = 0xfe534d42;
    struct statfs s;
    if (fstatfs(file, &s) != 0) return true;
    const auto kind = static_cast<std::uint32_t>(s.f_type);
    return kind == nfs || kind == smb || kind == cifs || kind == smb2;
}

/// A lease for reading is given only while nobody has the file open for writing. It goes back at
/// once; a writer that comes in between causes a signal that does nothing.
status refuse_written(int file, const std::string& path, const file_mark& mark) {
    fcntl(file, F_SETSIG, SIGURG);
    if (fcntl(file, F_SETLEASE, F_RDLCK) == 0) {
        fcntl(file, F_SETLEASE, F_UNLCK);
        return {};
    }
    if (errno == EAGAIN && !is_remote(file)) {
        return {changed_meanwhile, "'" + path + "' is open for writing"};
    }
    // Not this user's file, or a file system without leases.
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const std::int64_t last = std::max(mark.written_ns, mark.changed_ns);
    const bool still = ns_of(now) < last || ns_of(now) - last >= 1'000'000'000;
    return still ? status{}
                 : status{changed_meanwhile, "'" + path + "' was written less than a second ago"};
}

enum class writers : std::uint8_t { allowed, refused };

status read_file(const std::string& path, std::vector<std::byte>& bytes, file_mark& mark,
                 writers with) {
    // Not blocking, or a pipe of that name would wait for its writer.
    const descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (file.number < 0) {
        if (errno != ENOENT) return failed("cannot open", path);
        if (is_symbolic_link(path)) {
            return {ENOENT, "'" + path + "' is a symbolic link to nothing"};
        }
        return {ENOENT, "there is no file '" + path + "'"};
    }
    struct stat s;
    if (fstat(file.number, &s) != 0) return failed("cannot read", path);
    if (!S_ISREG(s.st_mode)) return {EINVAL, "'" + path + "' is " + kind_of(s.st_mode)};
    mark = mark_of(s);
    const auto look = [&] {
        return with == writers::refused ? refuse_written(file.number, path, mark) : status{};
    };
    if (status went = look(); !went) return went;
    bytes.reserve(mark.size);
    want_large_pages(bytes.data(), mark.size);  // else their faults take longer than reading
    bytes.resize(mark.size);
    if (status went = read_all(file.number, path, bytes); !went) return went;
    // One that was opened for writing meanwhile is open still, or has other times.
    if (status went = look(); !went) return went;
    if (fstat(file.number, &s) != 0) return failed("cannot read", path);
    if (mark_of(s) != mark) {
        return {changed_meanwhile, "'" + path + "' changed while it was read"};
    }
    return {};
}

}  // namespace

status read_file(const std::string& path, std::vector<std::byte>& bytes, file_mark& mark) {
    return read_file(path, bytes, mark, writers::allowed);
}

status read_closed_file(const std::string& path, std::vector<std::byte>& bytes, file_mark& mark) {
    return read_file(path, bytes, mark, writers::refused);
}

mapped_file::~mapped_file() {
    if (!bytes_.empty()) munmap(bytes_.data(), bytes_.size());
}

bool mapped_file::map(const std::string& path) {
    const descriptor file{open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    struct stat s;
    if (file.number < 0 || fstat(file.number, &s) != 0 || !S_ISREG(s.st_mode)) return false;
    const auto size = static_cast<std::size_t>(s.st_size);
    void* const at = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (at == MAP_FAILED) return false;
    bytes_ = {static_cast<std::byte*>(at), size};
    return true;
}

status write_file(const std::string& path, std::span<const std::byte> bytes, file_kind kind) {
    status went;
    {
        const mode_t mode = kind == file_kind::code ? 0777 : 0666;
        const descriptor file{open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)};
        if (file.number < 0) return failed("cannot write", path);
        went = write_all(file.number, path, bytes);
    }
    if (!went) unlink(path.c_str());
    return went;
}

status replace_file(const std::string& from, const std::string& to) {
    return rename(from.c_str(), to.c_str()) == 0 ? status{} : failed("cannot replace", to);
}

void remove_file(const std::string& path) { unlink(path.c_str()); }

status make_folder(const std::string& parent, std::string& made) {
    const char* const temporary = std::getenv("TMPDIR");
    std::string name = !parent.empty()                              ? parent
                       : temporary != nullptr && *temporary != '\0' ? temporary
                                                                    : "/tmp";
    name += "/braid-reload-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) return failed("cannot make the folder", name);
    made = name;
    return {};
}

void remove_folder(const std::string& path) {
    if (DIR* const folder = opendir(path.c_str())) {
        const int number = dirfd(folder);
        while (const dirent* const entry = number >= 0 ? readdir(folder) : nullptr) {
            unlinkat(number, entry->d_name, 0);
        }
        closedir(folder);
    }
    rmdir(path.c_str());
}

std::string own_program() { return "/proc/self/exe"; }

std::int64_t monotonic_ns() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_of(now);
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
