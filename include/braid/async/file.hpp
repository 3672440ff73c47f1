#pragma once
// The class `file` opens a file that is read by offset. file_reader needs this class, but other
// code may read the file as well.

#include "braid/base/export.hpp"
#include "braid/base/status.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

BRAID_NAMESPACE_BEGIN

struct file_open_options {
    /// Bypasses the operating system's cache, so that data is read directly into the buffer. The
    /// offset, length and address of each read must then be multiples of file::alignment(). Not
    /// every file system supports this.
    bool direct = false;
};

/// A file that is open for reading as long as this object lives. The object must outlive every read
/// of the file, and must not be moved during a read. Opening and closing a file may take some ms,
/// so do it where no frame waits. Any thread may call the functions of a file.
class file {
public:
    file() = default;
    /// Opens the file. If the file cannot be opened, error() says why, and each read of the file
    /// fails with the same text.
    BRAID_API explicit file(std::string path, const file_open_options& options = {});
    BRAID_API ~file();
    file(file&& other) noexcept { swap(other); }
    file& operator=(file&& other) noexcept {
        swap(other);
        return *this;
    }

    bool is_open() const { return descriptor_ >= 0; }
    /// Returns "" if the file is open. Otherwise returns "PATH: " and the error message of the
    /// operating system, or "no file was opened" for a default-constructed file.
    const std::string& error() const { return error_; }
    const std::string& path() const { return path_; }
    /// Returns the current size of the file in bytes. Each call asks the operating system. Returns
    /// 0 if the file is not open, or if the operating system reports an error.
    BRAID_API std::uint64_t size() const;
    /// Returns the alignment, in bytes, that the offset, length and address of a read must have. 1
    /// means that any values are allowed.
    std::size_t alignment() const { return alignment_; }
    /// Returns the operating system's descriptor of the file, or -1 if the file is not open.
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
