#pragma once
// A file that is read by offset. For file_reader; it may be read in other ways as well.

#include "braid/base/export.hpp"
#include "braid/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

BRAID_NAMESPACE_BEGIN

struct file_open_options {
    /// Past the system's cache, into the buffer itself. Then offset, length and address of each
    /// read must be multiples of file::alignment(). Not every file system allows it.
    bool direct = false;
};

/// Open for reading as long as it lives, which is longer than the reads of it. Movable while
/// nothing reads it. Opening and closing may take the system some ms: do it where a frame does not
/// wait. Any thread may call.
class file {
public:
    file() = default;
    /// Where it fails error() says so, and each read fails with that.
    BRAID_API explicit file(std::string path, const file_open_options& options = {});
    BRAID_API ~file();
    file(file&& other) noexcept { swap(other); }
    file& operator=(file&& other) noexcept {
        swap(other);
        return *this;
    }

    bool is_open() const { return descriptor_ >= 0; }
    /// "" where it is open; else "PATH: " and the system's words.
    const std::string& error() const { return error_; }
    const std::string& path() const { return path_; }
    /// In bytes, at this moment: asks the system. 0 where it is not open.
    BRAID_API std::uint64_t size() const;
    /// In bytes; 1: reads need none.
    std::size_t alignment() const { return alignment_; }
    /// The system's number for it; -1: it is not open.
    int descriptor() const { return descriptor_; }

private:
    void swap(file& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        std::swap(alignment_, other.alignment_);
        path_.swap(other.path_);
        error_.swap(other.error_);
    }

    int descriptor_ = -1;
    std::size_t alignment_ = 1;
    std::string path_, error_ = "no file was opened";
};

BRAID_NAMESPACE_END
