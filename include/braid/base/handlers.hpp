#pragma once
// The library reports everything through these handlers. It ends the program only where the
// documentation of a function says so.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <exception>

BRAID_NAMESPACE_BEGIN

enum class log_level { info, warning, error };

/// Receives messages from any thread, and from several threads at the same time. The function must
/// not call back into the scheduler. `message` is one sentence, valid during the call. If
/// `function` is null, warnings and errors are printed to standard error. Each of them is one line
/// "braid: <scheduler>: …" (reports of a caller's mistake do not contain the scheduler's name). A
/// scheduler prints at most one line of a kind per second, with the number of messages that were
/// left out. Messages are of one kind if they differ only in numbers and quoted names.
struct log_handler {
    void (*function)(void* user, log_level level, const char* message) = nullptr;
    void* user = nullptr;

    /// Returns a handler that drops every message.
    static constexpr log_handler silent() {
        return {[](void*, log_level, const char*) {}};
    }
};

/// Receives a caller's mistake (see assert.hpp). After the function has returned, the operation is
/// refused (it returns an empty id, or `false`), and is never half done. The default calls the log
/// handler at level error. In a library configured with -DBRAID_CHECKED=ON, the default then calls
/// std::terminate.
struct assertion_handler {
    void (*function)(void* user, const char* condition, const char* what_to_change,
                     const char* file, int line) = nullptr;
    void* user = nullptr;
};

/// Called when an allocation failed or the byte budget is spent. After the function has returned,
/// the operation is refused.
struct out_of_memory_handler {
    void (*function)(void* user, std::size_t bytes, const char* what) = nullptr;
    void* user = nullptr;
};

/// Receives an exception that has no receiver: no future, no waiter, no parent, no scope. `task` is
/// the name of the task that threw. The default calls the log handler at level error.
struct exception_handler {
    void (*function)(void* user, const char* task, std::exception_ptr error) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
