#include "base/platform/platform.hpp"
#include "base/platform/windows/system.hpp"

#include <cstdlib>
#include <cstring>

namespace braid::platform {
namespace {

struct handle {
    HANDLE own = nullptr;
    ~handle() { close_now(); }
    void close_now() {
        if (own != nullptr && own != INVALID_HANDLE_VALUE) CloseHandle(own);
        own = nullptr;
    }
};

/// The command line as programs take it apart: quotes around an argument with spaces, backslashes
/// doubled before a quote.
class command_line {
public:
    /// Returns false if it does not fit.
    bool add(const char* argument) {
        if (size_ != 0) put(' ');
        const bool is_plain = *argument != '\0' && std::strpbrk(argument, " \t\n\v\"") == nullptr;
        if (is_plain) {
            while (*argument != '\0') put(*argument++);
        } else {
            add_quoted(argument);
        }
        text_[std::min(size_, most)] = '\0';
        return size_ <= most;
    }
    const char* text() const { return text_; }

private:
    static constexpr std::size_t most = 4'095;
    void add_quoted(const char* argument) {
        put('"');
        std::size_t backslashes = 0;
        for (const char* at = argument; *at != '\0'; ++at) {
            if (*at == '"') {
                for (std::size_t i = 0; i < backslashes + 1; ++i) put('\\');
            }
            backslashes = *at == '\\' ? backslashes + 1 : 0;
            put(*at);
        }
        for (std::size_t i = 0; i < backslashes; ++i) put('\\');
        put('"');
    }
    void put(char c) {
        if (size_ < most) text_[size_] = c;
        ++size_;
    }
    char text_[most + 1] = "";
    std::size_t size_ = 0;
};

/// A file without a name for others, gone with its last handle.
HANDLE open_scratch(SECURITY_ATTRIBUTES& inherited) {
    wchar_t folder[MAX_PATH + 1];
    wchar_t name[MAX_PATH + 1];
    if (GetTempPathW(MAX_PATH, folder) == 0) return INVALID_HANDLE_VALUE;
    if (GetTempFileNameW(folder, L"brd", 0, name) == 0) return INVALID_HANDLE_VALUE;
    return CreateFileW(name, GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                       &inherited, CREATE_ALWAYS,
                       FILE_ATTRIBUTE_TEMPORARY | FILE_FLAG_DELETE_ON_CLOSE, nullptr);
}

void send_all(HANDLE to, const char* data, std::size_t size) {
    while (size != 0) {
        DWORD sent = 0;
        const auto part = static_cast<DWORD>(std::min<std::size_t>(size, 65'536));
        if (WriteFile(to, data, part, &sent, nullptr) == 0) return;  // it ended early
        data += sent;
        size -= sent;
    }
}

void read_first_line(HANDLE from, char* line, std::size_t room) {
    DWORD got = 0;
    SetFilePointer(from, 0, nullptr, FILE_BEGIN);
    if (ReadFile(from, line, static_cast<DWORD>(room - 1), &got, nullptr) == 0) got = 0;
    line[got] = '\0';
    line[std::strcspn(line, "\r\n")] = '\0';
}

}  // namespace

std::uint32_t process_id() noexcept { return GetCurrentProcessId(); }

// A process has no copy of itself here.
std::uint32_t fork_mark() noexcept { return 0; }

bool take_environment(const char* name, char* to, std::size_t room) noexcept {
    const char* const value = std::getenv(name);
    const std::size_t size = value != nullptr ? std::strlen(value) : 0;
    if (size == 0 || size >= room) return false;
    std::memcpy(to, value, size + 1);
    return _putenv_s(name, "") == 0;
}

int run_program(const char* const* arguments, const char* input, std::size_t size, char* said,
                std::size_t room) noexcept {
    said[0] = '\0';
    command_line line;
    for (; *arguments != nullptr; ++arguments) {
        if (!line.add(*arguments)) return -1;
    }
    wchar_t wide[4'096];
    if (!widen(line.text(), wide, std::size(wide))) return -1;
    SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
    handle theirs, ours;
    if (CreatePipe(&theirs.own, &ours.own, &inherited, 0) == 0) return -1;
    SetHandleInformation(ours.own, HANDLE_FLAG_INHERIT, 0);
    const handle says{open_scratch(inherited)};
    if (says.own == INVALID_HANDLE_VALUE) return -1;
    STARTUPINFOW how{};
    how.cb = sizeof how;
    how.dwFlags = STARTF_USESTDHANDLES;
    how.hStdInput = theirs.own;
    how.hStdOutput = GetStdHandle(STD_OUTPUT_HANDLE);
    how.hStdError = says.own;
    PROCESS_INFORMATION child{};
    if (CreateProcessW(nullptr, wide, nullptr, nullptr, TRUE, CREATE_NO_WINDOW, nullptr, nullptr,
                       &how, &child) == 0) {
        return -1;
    }
    const handle process{child.hProcess}, thread{child.hThread};
    theirs.close_now();
    send_all(ours.own, input, size);
    ours.close_now();
    WaitForSingleObject(process.own, INFINITE);
    DWORD status = 0;
    if (GetExitCodeProcess(process.own, &status) == 0) return -1;
    read_first_line(says.own, said, room);
    return status <= 255 ? static_cast<int>(status) : -1;  // above: an exception ended it
}

}  // namespace braid::platform
