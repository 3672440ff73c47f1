#pragma once
// What readers of files ask of an operating system.

#include <cstddef>
#include <cstdint>

namespace braid::platform {

/// A descriptor to read by, from 0 on; or minus the system's error. A folder is refused. `direct`:
/// past the system's cache.
int open_to_read(const char* path, bool direct) noexcept;
void close_file(int descriptor) noexcept;
/// In bytes; below 0: minus the system's error.
std::int64_t size_of_file(int descriptor) noexcept;
/// What offsets, lengths and addresses of direct reads must be multiples of.
std::size_t direct_alignment(int descriptor) noexcept;

struct file_piece {
    void* data = nullptr;
    std::size_t bytes = 0;
};
inline constexpr unsigned most_pieces = 16;
/// Fills the pieces, at most most_pieces, one after the other. How many bytes there were, 0 at the
/// end; or minus the system's error. Goes on after an interruption.
std::int64_t read_pieces(int descriptor, const file_piece* pieces, unsigned count,
                         std::uint64_t offset) noexcept;

/// The system's words for an error of its own, as "Input/output error".
void words_of_error(int error, char* to, std::size_t room) noexcept;

}  // namespace braid::platform
