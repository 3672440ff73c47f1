#pragma once
// What the library has to say goes through these. It does not end the program where no contract
// says so.

#include "braid/base/export.hpp"
#include "braid/base/version.hpp"

#include <cstddef>
#include <exception>

BRAID_NAMESPACE_BEGIN

enum class log_level { info, warning, error };

/// Called from any thread, several at once; must not call back into the scheduler.
/// `message` is one sentence, valid during the call. Without a function warnings and errors go to
/// standard error, each a line "braid: <scheduler>: …": at most one a second of one kind in a
/// scheduler, with how many were left out; messages that differ only in numbers and names are of
/// one kind.
struct log_handler {
    void (*function)(void* user, log_level level, const char* message) = nullptr;
    void* user = nullptr;

    /// Nothing is said.
    static constexpr log_handler silent() {
        return {[](void*, log_level, const char*) {}};
    }
};

/// A caller's mistake (see assert.hpp). When it returns, the operation is refused (an empty id,
/// `false`), never half done. Default: the log handler at level error, and after it std::terminate
/// in a library configured with -DBRAID_CHECKED=ON.
struct assertion_handler {
    void (*function)(void* user, const char* condition, const char* what_to_change,
                     const char* file, int line) = nullptr;
    void* user = nullptr;
};

/// An allocation failed or the byte budget is spent. When it returns, the operation is refused.
struct out_of_memory_handler {
    void (*function)(void* user, std::size_t bytes, const char* what) = nullptr;
    void* user = nullptr;
};

/// An exception that nobody was left to receive: no future, no waiter, no parent, no scope.
/// `task` is the name of the task that threw. Default: the log handler at level error.
struct exception_handler {
    void (*function)(void* user, const char* task, std::exception_ptr error) = nullptr;
    void* user = nullptr;
};

BRAID_NAMESPACE_END
