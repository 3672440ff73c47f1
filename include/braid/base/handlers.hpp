#pragma once
// The library reports everything through these handlers. It ends the program only where a contract
// says so.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <exception>

BRAID_NAMESPACE_BEGIN

enum class log_level { info, warning, error };

/// Receives messages from any thread, and from several at once. It must not call back into the
/// scheduler. `message` is one sentence, valid during the call. Without a function, warnings and
/// errors go to standard error. Each is a line "braid: <scheduler>: …" (reports of a caller's
/// mistake do not name the scheduler). A scheduler writes at most one line of a kind per second,
/// with the number of messages that were left out. Messages that differ only in numbers and quoted
/// names are of one kind.
struct log_handler {
    void (*function)(void* user, log_level level, const char* message) = nullptr;
    void* user = nullptr;

    /// Returns a handler that drops every message.
    static constexpr log_handler silent() {
        return {[](void*, log_level, const char*) {}};
    }
};

/// Receives a caller's mistake (see assert.hpp). When it returns, the operation is refused (it
/// returns an empty id, or `false`), and is never half done. The default calls the log handler at
/// level error. In a library configured with -DBRAID_CHECKED=ON, it then calls std::terminate.
struct assertion_handler {
    void (*function)(void* user, const char* condition, const char* what_to_change,
                     const char* file, int line) = nullptr;
    void* user = nullptr;
};

/// Called when an allocation failed or the byte budget is spent. When it returns, the operation is
/// refused.
struct out_of_memory_handler {
    void (*function)(void* user, std::size_t bytes, const char* what) = nullptr;
    void* user = nullptr;
};

/// Receives an exception for which no receiver was left: no future, no waiter, no parent, no scope.
/// `task` is the name of the task that threw. The default calls the log handler at level error.
struct exception_handler {
    void (*function)(void* user, const char* task, std::exception_ptr error) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
