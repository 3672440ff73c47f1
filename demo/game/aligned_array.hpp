// Arrays that a processor which is no core may compute on where they lie.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace arena {

/// Where such an array begins: at a multiple of it. What graphics processors want of an operand.
inline constexpr std::size_t array_alignment = 256;

template <class T>
struct aligned_allocator {
    using value_type = T;

    aligned_allocator() = default;
    template <class U>
    aligned_allocator(const aligned_allocator<U>&) {}
    T* allocate(std::size_t count) {
        return static_cast<T*>(
            ::operator new(count * sizeof(T), std::align_val_t{array_alignment}));
    }
    void deallocate(T* memory, std::size_t) {
        ::operator delete(memory, std::align_val_t{array_alignment});
    }
    friend bool operator==(const aligned_allocator&, const aligned_allocator&) { return true; }
};

template <class T>
using aligned_array = std::vector<T, aligned_allocator<T>>;

}  // namespace arena
