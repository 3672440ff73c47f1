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

/// Asks for large pages where memory that nobody has touched begins one; what is smaller than that
/// stays as it is. A hint: the system may have none.
void want_large_pages(std::byte* memory, std::size_t bytes);

/// All bytes of a regular file. Refused, in words: anything else, and a file that changed while it
/// was read (code `changed_meanwhile`). ENOENT is the code where there is none.
status read_file(const std::string& path, std::vector<std::byte>& bytes, file_mark& mark);
inline constexpr int changed_meanwhile = -1;
/// Does what read_file() does, for a file that a linker may be writing: refused, too, while any
/// process has it open or mapped for writing (code `changed_meanwhile`). Where the system cannot
/// say that: while the last change is less than a second old.
status read_closed_file(const std::string& path, std::vector<std::byte>& bytes, file_mark& mark);

/// The bytes of a regular file that nobody writes to, such as a copy that was loaded: they are in
/// memory already. Who reads after another has cut the file short ends the process.
class mapped_file {
public:
    mapped_file() = default;
    ~mapped_file();
    mapped_file(const mapped_file&) = delete;
    mapped_file& operator=(const mapped_file&) = delete;

    /// Once. False: it cannot be read, or is empty.
    bool map(const std::string& path);
    std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::span<std::byte> bytes_;
};

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
/// Where a shared object lies: [begin, end), and what was added to each address in its file.
struct image_place {
    std::uintptr_t begin = 0, end = 0, moved_by = 0;
};
image_place place_of(void* handle);
/// The object whose code lies at that address, and what was added to each address in its file.
struct code_file {
    const char* path = nullptr;  // null: there is none
    std::uintptr_t moved_by = 0;
};
/// From a signal handler, too.
code_file code_file_at(std::uintptr_t address);
/// Whether the code of that object may be run. False: the system refuses.
bool set_executable(const image_place& place, bool may_run);

/// The code is the system's own: its C library, or its loader.
bool is_system_code(std::uintptr_t address);
/// To the error output, also from a signal handler.
void write_error(const char* text);

// ---- faults -------------------------------------------------------------------------------------

/// What ends a process. In a signal handler, on the thread concerned, or, with signal 0, because it
/// calls exit().
struct crash {
    int signal = 0;
    int exit_code = 0;
    std::uintptr_t address = 0;              // that it could not use
    std::span<const std::uintptr_t> places;  // where the thread is, innermost first, as known
};
using crash_fn = void (*)(const crash& what);
/// A thread has called code that may not run. In a signal handler, on that thread; `from`: where
/// the call came from, 0 when unknown. True: it may be run now, and is; false: not about that code.
using stale_call_fn = bool (*)(std::uintptr_t address, std::uintptr_t from);
/// From the first call on; what handled such signals before goes on to get them. Null: not now.
void watch_faults(stale_call_fn stale, crash_fn report);
/// In a signal handler: its stack has room for a reader of debug information.
bool has_room_for_reading();
/// "SIGSEGV"
std::string signal_name(int number);

// ---- a copy of this process ---------------------------------------------------------------------

/// How a process ended: by a signal, or by itself.
struct process_end {
    int signal = 0;  // 0: none
    int exit_code = 0;
};

/// A child with all that this process has in memory, of which only the calling thread goes on. It
/// ends no later than the thread that began it. Messages are plain data of up to 512 bytes.
class child_process {
public:
    static constexpr std::size_t most_message = 512;

    child_process() = default;
    /// Ends it.
    ~child_process();
    child_process(const child_process&) = delete;
    child_process& operator=(const child_process&) = delete;

    /// Returns in both; `in_child` says where. A status: there is none, in words.
    status begin(bool& in_child);

    // ---- in the child
    /// From a signal handler, too.
    void send(std::span<const std::byte> message) noexcept;
    /// Without destructors and handlers of the end.
    [[noreturn]] static void leave();

    // ---- in this process
    /// True: it has ended. `message`: the last one that it sent, which has `size` bytes.
    bool has_ended(std::span<std::byte> message, std::size_t& size, process_end& how);
    void kill();

private:
    void take_messages(std::span<std::byte> message, std::size_t& size);
    int process_ = -1, pipe_ = -1;
};

/// In a child: whatever would end it is reported first, and then it ends. Once the time is up that
/// happens, too. The output stream is closed, and no core file is written.
void report_crashes(crash_fn report, std::int64_t within_ns);
inline constexpr int signal_of_time = 14;

std::int64_t monotonic_ns();

}  // namespace reload::platform
BRAID_NAMESPACE_END
