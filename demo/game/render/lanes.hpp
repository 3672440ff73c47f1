#pragma once
// Vectors of 4 or 8 pixels for the kernels, on the compilers' vector extensions. Every operation is
// one IEEE operation per lane, so a lane computes the same at every width.
//
// Everything here and in the kernels lives in an unnamed namespace: kernels_*.cpp are compiled for
// different processors, and the linker must never merge their functions.

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace arena {
namespace {

#if defined(__AVX2__)
constexpr int lane_count = 8;
#else
constexpr int lane_count = 4;
#endif

using f32x4 = float __attribute__((vector_size(16)));
using i32x4 = std::int32_t __attribute__((vector_size(16)));
using lanes_f = float __attribute__((vector_size(lane_count * 4)));
using lanes_i = std::int32_t __attribute__((vector_size(lane_count * 4)));
using lanes_u = std::uint32_t __attribute__((vector_size(lane_count * 4)));

inline lanes_f splat(float value) { return lanes_f{} + value; }
inline lanes_i splat(std::int32_t value) { return lanes_i{} + value; }

inline lanes_i lane_numbers() {
#if defined(__AVX2__)
    return lanes_i{0, 1, 2, 3, 4, 5, 6, 7};
#else
    return lanes_i{0, 1, 2, 3};
#endif
}

inline lanes_f to_float(lanes_i value) { return __builtin_convertvector(value, lanes_f); }
inline lanes_i truncate(lanes_f value) { return __builtin_convertvector(value, lanes_i); }

/// The bits as another type of vector.
inline lanes_f as_float(lanes_i value) { return reinterpret_cast<lanes_f>(value); }
inline lanes_i as_int(lanes_f value) { return reinterpret_cast<lanes_i>(value); }
inline lanes_u as_unsigned(lanes_i value) { return reinterpret_cast<lanes_u>(value); }
inline lanes_i as_signed(lanes_u value) { return reinterpret_cast<lanes_i>(value); }
inline lanes_i logical_shift_right(lanes_i value, int bits) {
    return as_signed(as_unsigned(value) >> bits);
}

template <typename Lanes>
inline Lanes load(const void* from) {
    Lanes value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
inline lanes_f load_f(const float* from) { return load<lanes_f>(from); }
inline lanes_i load_i(const void* from) { return load<lanes_i>(from); }
template <typename Lanes>
inline void store(void* to, Lanes value) {
    std::memcpy(to, &value, sizeof value);
}

inline lanes_f select(lanes_i mask, lanes_f yes, lanes_f no) {
#if defined(__AVX2__)
    return _mm256_blendv_ps(no, yes, as_float(mask));
#else
    return as_float((mask & as_int(yes)) | (~mask & as_int(no)));
#endif
}
inline lanes_i select(lanes_i mask, lanes_i yes, lanes_i no) {
    return as_int(select(mask, as_float(yes), as_float(no)));
}

/// One bit per lane: its sign.
inline unsigned sign_bits(lanes_i value) {
#if defined(__AVX2__)
    return static_cast<unsigned>(_mm256_movemask_ps(as_float(value)));
#elif defined(__SSE2__)
    return static_cast<unsigned>(_mm_movemask_ps(as_float(value)));
#else
    unsigned bits = 0;
    for (int i = 0; i < lane_count; ++i) bits |= value[i] < 0 ? 1u << i : 0u;
    return bits;
#endif
}
inline bool any(lanes_i mask) { return sign_bits(mask) != 0; }
inline bool all(lanes_i mask) { return sign_bits(mask) == (1u << lane_count) - 1; }

// a < b ? a : b and a > b ? a : b: the second operand when one is not a number.
inline lanes_f minimum(lanes_f a, lanes_f b) {
#if defined(__AVX2__)
    return _mm256_min_ps(a, b);
#elif defined(__SSE2__)
    return _mm_min_ps(a, b);
#else
    return select(a < b, a, b);
#endif
}
inline lanes_f maximum(lanes_f a, lanes_f b) {
#if defined(__AVX2__)
    return _mm256_max_ps(a, b);
#elif defined(__SSE2__)
    return _mm_max_ps(a, b);
#else
    return select(a > b, a, b);
#endif
}
inline lanes_f saturate(lanes_f value) { return minimum(maximum(value, splat(0.0f)), splat(1.0f)); }
inline lanes_f absolute(lanes_f value) { return as_float(as_int(value) & 0x7fffffff); }

inline lanes_f square_root(lanes_f value) {
#if defined(__AVX2__)
    return _mm256_sqrt_ps(value);
#elif defined(__SSE2__)
    return _mm_sqrt_ps(value);
#else
    for (int i = 0; i < lane_count; ++i) value[i] = __builtin_sqrtf(value[i]);
    return value;
#endif
}

/// 1 / sqrt(value) to 7e-4, from plain arithmetic: the hardware's estimate differs by maker. One
/// Newton step whose constants (after Kadlec) spread the error evenly.
inline lanes_f inverse_root(lanes_f value) {
    const lanes_f guess = as_float(0x5f1ffff9 - (as_int(value) >> 1));
    return guess * 0.703952253f * (2.38924456f - value * guess * guess);
}

/// The integer below; |value| < 2^31.
inline lanes_f floor_of(lanes_f value) {
    const lanes_f cut = to_float(truncate(value));
    return cut - as_float((cut > value) & as_int(splat(1.0f)));
}

inline lanes_i gather(const void* table, lanes_i index) {
#if defined(__AVX2__)
    return reinterpret_cast<lanes_i>(_mm256_i32gather_epi32(static_cast<const int*>(table),
                                                            reinterpret_cast<__m256i>(index), 4));
#else
    lanes_i value{};
    const char* bytes = static_cast<const char*>(table);
    for (int i = 0; i < lane_count; ++i) {
        std::int32_t entry;
        std::memcpy(&entry, bytes + std::int64_t{index[i]} * 4, 4);
        value[i] = entry;
    }
    return value;
#endif
}

}  // namespace
}  // namespace arena
