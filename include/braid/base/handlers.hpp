#pragma once
// The library reports everything through these handlers. The library ends the program only where
// the documentation of a function says so.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <exception>

BRAID_NAMESPACE_BEGIN

enum class log_level { info, warning, error };

/// The function receives messages from any thread, and from several threads at the same time. It
/// must not call back into the scheduler. `message` is one sentence that is valid during the call.
/// If `function` is null, warnings and errors are printed to standard error. Each message is one
/// line "braid: <scheduler>: …" (reports of a caller's mistake do not contain the scheduler's
/// name). Two messages are of the same kind if they differ only in numbers and quoted names. A
/// scheduler prints at most one message of a kind per second. The next printed message of that kind
/// contains the number of messages that were left out.
struct log_handler {
    void (*function)(void* user, log_level level, const char* message) = nullptr;
    void* user = nullptr;

    /// Returns a handler that drops every message.
    static constexpr log_handler silent() {
        return {[](void*, log_level, const char*) {}};
    }
};

/// The function receives a caller's mistake (see assert.hpp). After the function has returned, the
/// operation is refused. A refused operation returns an empty id or `false`, and is never half
/// done. The default calls the log handler at level error. In a library configured with
/// -DBRAID_CHECKED=ON, the default then calls std::terminate.
struct assertion_handler {
    void (*function)(void* user, const char* condition, const char* what_to_change,
                     const char* file, int line) = nullptr;
    void* user = nullptr;
};

/// The function is called if an allocation fails or would exceed the byte budget. After the
/// function has returned, the operation is refused.
struct out_of_memory_handler {
    void (*function)(void* user, std::size_t bytes, const char* what) = nullptr;
    void* user = nullptr;
};

/// The function receives an exception that no future, waiter, parent or scope receives. `task` is
/// the name of the task that threw. The default calls the log handler at level error.
struct exception_handler {
    void (*function)(void* user, const char* task, std::exception_ptr error) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
