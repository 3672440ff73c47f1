#pragma once
// A kernel is the code that runs on a processor: a function that is called for each group. The
// kernel's CPU function defines the result. Other processors must produce the same bytes.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace device {

/// The number of groups in each dimension. Each count must be 1..65,535, a range that every
/// graphics processor supports. The product of the three counts must be at most 2^40.
struct group_counts {
    static constexpr std::uint32_t most = 65'535;

    std::uint32_t x = 1, y = 1, z = 1;
};

namespace detail {
/// The arguments of a kernel. A launch stays valid as long as the kernel runs.
struct launch {
    static constexpr unsigned most_operands = 16;
    static constexpr std::size_t most_constants = 128;

    group_counts groups;
    unsigned reads = 0, writes = 0;  // inputs are operands[0, reads); the outputs follow them
    std::span<std::byte> operands[most_operands];
    std::size_t constant_bytes = 0;
    alignas(16) std::byte constants[most_constants];
};
}  // namespace detail

/// One group of a launch. Groups run in any order and concurrently, so a group must not write
/// memory that another group reads or writes.
class group {
public:
    group(const detail::launch& all, std::uint64_t number)
        : all_(all), x_(static_cast<std::uint32_t>(number)) {
        if (number < all.groups.x) return;  // most launches have one row
        x_ = static_cast<std::uint32_t>(number % all.groups.x);
        y_ = static_cast<std::uint32_t>(number / all.groups.x % all.groups.y);
        z_ = static_cast<std::uint32_t>(number / all.groups.x / all.groups.y);
    }

    std::uint32_t x() const { return x_; }
    std::uint32_t y() const { return y_; }
    std::uint32_t z() const { return z_; }
    const group_counts& groups() const { return all_.groups; }

    /// Returns the constants of the submission. Bytes that the submission did not supply are 0.
    template <class T>
    T constants() const {
        static_assert(
            std::is_trivially_copyable_v<T> && sizeof(T) <= detail::launch::most_constants,
            "constants are plain data of 128 bytes at most");
        alignas(T) std::byte bytes[sizeof(T)] = {};
        const std::size_t given = all_.constant_bytes;
        std::memcpy(bytes, all_.constants, given < sizeof(T) ? given : sizeof(T));
        T constants;
        std::memcpy(&constants, bytes, sizeof(T));
        return constants;
    }
    /// Returns input `i` of the submission. The first input has the number 0. Returns an empty span
    /// if the submission has no input `i`.
    template <class T>
    std::span<const T> read(unsigned i) const {
        if (i >= all_.reads) return {};
        return as<const T>(all_.operands[i]);
    }
    /// Returns output `i` of the submission. The first output has the number 0. Returns an empty
    /// span if the submission has no output `i`.
    template <class T>
    std::span<T> write(unsigned i) const {
        if (i >= all_.writes) return {};
        return as<T>(all_.operands[all_.reads + i]);
    }

private:
    template <class T>
    static std::span<T> as(std::span<std::byte> bytes) {
        return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
    }

    const detail::launch& all_;
    std::uint32_t x_, y_ = 0, z_ = 0;
};

/// A kernel must stay valid until every submission of the kernel has ended. `on_cores` is the
/// kernel's CPU function.
struct kernel {
    const char* name = nullptr;                // must outlive the kernel
    void (*on_cores)(const group&) = nullptr;  // required; an exception fails the submission
    /// The code for graphics processors: a compute shader whose entry point is "main". See
    /// device/vulkan.hpp. If `spirv` is empty, `on_cores` runs instead.
    std::span<const std::uint32_t> spirv = {};
};

}  // namespace device
BRAID_NAMESPACE_END
