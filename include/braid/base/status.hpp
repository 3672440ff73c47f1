#pragma once
// The result of an operation that depends on something outside the program, such as files, other
// programs or sockets.

#include "braid/base/version.hpp"

#include <string>

BRAID_NAMESPACE_BEGIN

/// Converts to true if the operation succeeded. Otherwise `text` is one sentence that says what
/// failed, and `code` is an error code of the operating system or of the other program.
struct status {
    int code = 0;      // 0 on success
    std::string text;  // empty on success

    explicit operator bool() const { return code == 0; }
};

BRAID_NAMESPACE_END
