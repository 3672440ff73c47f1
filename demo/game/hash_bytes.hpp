// In the manner of FNV-1a, eight bytes at a time: checksum of models and hash of frames.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace arena {

inline std::uint64_t hash_bytes(std::span<const std::byte> bytes,
                                std::uint64_t start = 0xcbf29ce484222325ull) {
    constexpr std::uint64_t prime = 0x100000001b3ull;
    // Four lanes, so that the multiplications overlap; folded together at the end.
    std::uint64_t lanes[4] = {start, start ^ 1, start ^ 2, start ^ 3};
    std::size_t at = 0;
    for (; at + 32 <= bytes.size(); at += 32) {
        std::uint64_t words[4];
        std::memcpy(words, bytes.data() + at, 32);
        for (int i = 0; i < 4; ++i) {
            lanes[i] = (lanes[i] ^ words[i]) * prime;
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    std::uint64_t hash = start;
    for (std::uint64_t lane : lanes) hash = (hash ^ lane) * prime;
    for (; at < bytes.size(); ++at)
        hash = (hash ^ std::to_integer<std::uint64_t>(bytes[at])) * prime;
    return hash ^ (hash >> 32);
}

/// Hashes values as eight bytes each: integers and enumerators by their value, floats by their
/// bits. So it says the same of a field that was widened or lies elsewhere.
class value_hash {
public:
    explicit value_hash(std::uint64_t start) : hash_(start) {}

    template <class... Values>
    void add(Values... values) {
        static_assert(sizeof...(Values) <= room);
        if (count_ + sizeof...(Values) > room) flush();
        ((words_[count_++] = word_of(values)), ...);
    }
    std::uint64_t value() {
        flush();
        return hash_;
    }

private:
    static constexpr std::size_t room = 512;

    template <class Value>
    static std::uint64_t word_of(Value value) {
        if constexpr (std::is_same_v<Value, float>) {
            return std::bit_cast<std::uint32_t>(value);
        } else if constexpr (std::is_same_v<Value, double>) {
            return std::bit_cast<std::uint64_t>(value);
        } else {
            static_assert(std::is_enum_v<Value> || std::is_integral_v<Value>);
            return static_cast<std::uint64_t>(value);
        }
    }
    void flush() {
        hash_ = hash_bytes(std::as_bytes(std::span(words_.data(), count_)), hash_);
        count_ = 0;
    }

    std::array<std::uint64_t, room> words_;
    std::size_t count_ = 0;
    std::uint64_t hash_;
};

}  // namespace arena
