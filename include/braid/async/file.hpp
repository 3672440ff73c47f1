#pragma once
// A file that is read by offset. It is made for file_reader, but may be read in other ways as well.

#include "braid/base/export.hpp"
#include "braid/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

BRAID_NAMESPACE_BEGIN

struct file_open_options {
    /// Bypasses the system's cache, so that the system reads into the buffer itself. The offset,
    /// length and address of each read must then be multiples of file::alignment(). Not every file
    /// system allows this.
    bool direct = false;
};

/// The file is open for reading as long as this object lives, which must be longer than any read of
/// it. It may be moved while nothing reads it. Opening and closing may take the system some ms: do
/// it where no frame waits. Any thread may call.
class file {
public:
    file() = default;
    /// Opens the file. If that fails, error() says why, and each read fails with that sentence.
    BRAID_API explicit file(std::string path, const file_open_options& options = {});
    BRAID_API ~file();
    file(file&& other) noexcept { swap(other); }
    file& operator=(file&& other) noexcept {
        swap(other);
        return *this;
    }

    bool is_open() const { return descriptor_ >= 0; }
    /// Returns "" if the file is open. Otherwise returns "PATH: " and the system's words, or "no
    /// file was opened" for a default-constructed file.
    const std::string& error() const { return error_; }
    const std::string& path() const { return path_; }
    /// Returns the size in bytes at this moment; asks the system each time. Returns 0 if the file
    /// is not open, or the system reports an error.
    BRAID_API std::uint64_t size() const;
    /// Returns the alignment that reads need, in bytes. 1 means that reads need none.
    std::size_t alignment() const { return alignment_; }
    /// Returns the system's number for the file, or -1 if the file is not open.
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
