#pragma once
// What reloading asks of an operating system: files, locks, a watched folder, shared objects.
// One implementation per folder beside this file.

#include "braid/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

/// What stays the same as long as nobody writes to a file or puts another in its place.
struct file_mark {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t written_ns = 0, changed_ns = 0;
    bool operator==(const file_mark&) const = default;
};
/// False: there is no such file, or it cannot be seen. Follows symbolic links.
bool look_at(const std::string& path, file_mark& mark);
bool is_symbolic_link(const std::string& path);

/// All bytes of a regular file. Refused, in words: anything else, and a file that changed while it
/// was read (code `changed_meanwhile`). ENOENT is the code where there is none.
status read_file(const std::string& path, std::vector<std::byte>& bytes, file_mark& mark);
inline constexpr int changed_meanwhile = -1;
enum class file_kind : std::uint8_t { data, code };
/// Writes a new file, which may be run when it is code; what was written of one that fails is
/// removed.
status write_file(const std::string& path, std::span<const std::byte> bytes, file_kind kind);
/// Puts the first file in place of the second, in one step.
status replace_file(const std::string& from, const std::string& to);
void remove_file(const std::string& path);
/// A new, empty folder: below `parent`, or, when that is empty, where temporary files go.
status make_folder(const std::string& parent, std::string& made);
/// Removes the folder and the files in it; folders in it, and what they hold, stay.
void remove_folder(const std::string& path);
/// The program that runs.
std::string own_program();

// ---- locks ------------------------------------------------------------------------------------

enum class lock_owner : std::uint8_t {
    none,     // there is no lock file
    holds,    // a process holds it with flock
    alive,    // nobody holds it, and the process whose number is in it runs
    dead,     // nobody holds it, and that process has ended
    unknown,  // nobody holds it, and no number is in it
};
struct lock_state {
    lock_owner owner = lock_owner::none;
    file_mark mark;
    std::int64_t process = 0;
};
lock_state look_at_lock(const std::string& path);
/// Removes that very lock: one that another process has made meanwhile stays.
void remove_lock(const std::string& path, const file_mark& mark);

/// A lock file with this process's number that is held with flock, removed by the destructor.
class held_lock {
public:
    held_lock() = default;
    ~held_lock();
    held_lock(const held_lock&) = delete;
    held_lock& operator=(const held_lock&) = delete;
    /// Waits for another owner.
    status take(const std::string& path);

private:
    std::string path_;
    int file_ = -1;
};

// ---- a watched folder ---------------------------------------------------------------------------

/// Says which files of some folders were written, put in place, linked or removed. One thread
/// waits; wake() is for any.
class folder_watch {
public:
    folder_watch();
    ~folder_watch();
    folder_watch(const folder_watch&) = delete;
    folder_watch& operator=(const folder_watch&) = delete;

    /// Twice is once. A status: the folder is not there, or the system has no more watches.
    status add(const std::string& folder);
    /// Until something has changed, wake() or the time is up; below 0: never. False: wake(), or the
    /// time. `all`: events were lost, so each file counts as changed.
    bool wait(std::int64_t timeout_ns, std::vector<std::string>& changed, bool& all);
    void wake();

private:
    struct state;
    state* state_;
};

// ---- shared objects -----------------------------------------------------------------------------

/// Loads it with all its symbols, shown to nobody; it stays for the life of the process. Runs its
/// static constructors.
status load_shared(const std::string& path, void*& handle);
void* find_symbol(void* handle, const char* name);

std::int64_t monotonic_ns();

}  // namespace reload::platform
BRAID_NAMESPACE_END
