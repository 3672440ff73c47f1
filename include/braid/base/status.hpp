#pragma once
// The result of an operation that depends on the world outside the program: on files, other
// programs or sockets.

#include "braid/base/version.hpp"

#include <string>

BRAID_NAMESPACE_BEGIN

/// Converts to true if the operation succeeded. Otherwise `text` is one sentence that says what
/// failed.
struct status {
    int code = 0;      // 0 means success; other values are codes of the system or the other program
    std::string text;  // empty on success

    explicit operator bool() const { return code == 0; }
};

BRAID_NAMESPACE_END
