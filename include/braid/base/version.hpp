#pragma once
// Semantic versioning: a minor release keeps source compatibility. A patch release also keeps
// binary compatibility. The name of the inline namespace identifies the binary interface. So a
// program that links two incompatible versions fails at link time, not at run time.

#define BRAID_VERSION_MAJOR 0
#define BRAID_VERSION_MINOR 1
#define BRAID_VERSION_PATCH 0

#define BRAID_NAMESPACE_BEGIN \
    namespace braid {         \
    inline namespace v0 {
#define BRAID_NAMESPACE_END \
    }                       \
    }

BRAID_NAMESPACE_BEGIN

struct version_number {
    int major, minor, patch;
};

/// The version of the headers. Compare it with `library_version()` to notice a stale library.
inline constexpr version_number header_version{BRAID_VERSION_MAJOR, BRAID_VERSION_MINOR,
                                               BRAID_VERSION_PATCH};

BRAID_NAMESPACE_END
