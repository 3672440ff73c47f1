#pragma once
// Defines sinks for the bytes of a capture: a file, or several sinks at once.

#include "braid/profile/recorder.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Writes a capture to a file during the recording.
class file_sink final : public capture_sink {
public:
    BRAID_API file_sink();
    file_sink(const file_sink&) = delete;
    file_sink& operator=(const file_sink&) = delete;
    /// Calls close().
    BRAID_API ~file_sink();

    BRAID_API status open(const std::string& path);
    BRAID_API bool take(std::span<const std::byte> chunks) override;
    /// Closes the file. close() must be called after recorder::stop(). The status describes file
    /// errors since open(), such as a full disk.
    BRAID_API status close();

private:
    std::string path_;
    std::FILE* file_ = nullptr;
    int error_ = 0;
};

/// Passes all bytes to several sinks, for example to a file and a live view of the same run:
///
///   profile::fan_out both({&file, &view});
///   recorder.start(both);
///
/// A sink that accepts no more bytes is dropped, and the other sinks continue. All sinks must
/// outlive the recording.
class fan_out final : public capture_sink {
public:
    explicit fan_out(std::vector<capture_sink*> to) : to_(std::move(to)) {}

    bool take(std::span<const std::byte> chunks) override {
        std::erase_if(to_, [&](capture_sink* one) { return !one->take(chunks); });
        return !to_.empty();
    }

private:
    std::vector<capture_sink*> to_;
};

}  // namespace profile
BRAID_NAMESPACE_END
