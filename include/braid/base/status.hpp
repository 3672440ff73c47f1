#pragma once
// How something went that the world outside the program has a say in: files, programs, sockets.

#include "braid/base/version.hpp"

#include <string>

BRAID_NAMESPACE_BEGIN

/// True: it went well. Otherwise one sentence about what did not.
struct status {
    int code = 0;      // 0: well; else the system's, or the other program's
    std::string text;  // empty when all is well

    explicit operator bool() const { return code == 0; }
};

BRAID_NAMESPACE_END
