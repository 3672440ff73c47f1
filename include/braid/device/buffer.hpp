#pragma once
// Declares the memory that a processor works on: buffers of the processor, and memory that the
// caller owns.

#include "braid/base/version.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace device {

/// The handle of a buffer of one processor. A handle is plain data. It becomes stale when the
/// buffer is released or the processor is lost. The value of a handle is never reused.
struct buffer {
    std::uint64_t value = 0;

    constexpr explicit operator bool() const { return value != 0; }
    friend constexpr auto operator<=>(buffer, buffer) = default;
};

struct buffer_options {
    static constexpr std::size_t most_bytes = std::size_t{1} << 40;

    const char* name = "buffer";  // for messages; must outlive the buffer
    std::size_t bytes = 0;        // 1..most_bytes
};

/// Describes caller-owned memory that processor::import_buffer() makes into a buffer. The memory
/// must stay valid as long as the processor exists, because a lost device may still write to it
/// until the device is destroyed.
struct import_options {
    const char* name = "memory";  // for messages; must outlive the buffer
    std::span<std::byte> memory;  // size is 1..buffer_options::most_bytes
};

/// The bytes [offset, offset + bytes) of the buffer `of`.
struct buffer_range {
    static constexpr std::size_t to_the_end = (std::numeric_limits<std::size_t>::max)();

    buffer of;
    std::size_t offset = 0;
    std::size_t bytes = to_the_end;
};

namespace detail {
struct operand {
    buffer_range range;           // set if the operand is a buffer
    std::byte* memory = nullptr;  // caller-owned memory if it is not a buffer
    std::size_t bytes = 0;
};
}  // namespace detail

/// An operand that a kernel reads: a buffer, or memory that the caller owns. Caller-owned memory
/// must stay valid and unchanged until the submission has ended.
class input {
public:
    input(buffer b) : what_{{b}} {}
    input(const buffer_range& r) : what_{r} {}
    template <class T, std::size_t Extent>
        requires std::is_trivially_copyable_v<T>
    input(std::span<T, Extent> s)
        : what_{{},
                const_cast<std::byte*>(reinterpret_cast<const std::byte*>(s.data())),
                s.size_bytes()} {}

    const detail::operand& what() const { return what_; }

private:
    detail::operand what_;
};

/// An operand that a kernel writes and may also read: a buffer, or memory that the caller owns.
/// Nothing else may access the operand until the submission has ended.
class output {
public:
    output(buffer b) : what_{{b}} {}
    output(const buffer_range& r) : what_{r} {}
    template <class T, std::size_t Extent>
        requires(std::is_trivially_copyable_v<T> && !std::is_const_v<T>)
    output(std::span<T, Extent> s)
        : what_{{}, reinterpret_cast<std::byte*>(s.data()), s.size_bytes()} {}

    const detail::operand& what() const { return what_; }

private:
    detail::operand what_;
};

}  // namespace device
BRAID_NAMESPACE_END
