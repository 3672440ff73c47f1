#pragma once
// What random pairs of layouts export to the program that runs them.

#include <braid/reload/arena.hpp>
#include <braid/reload/export.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace random_pairs {

/// One pair: types of namespace `before` are filled in, those of namespace `after` are looked at.
struct pair_case {
    const char* name;  // the namespace around both
    void (*fill)(braid::reload::arena& state);
    /// What is wrong; empty: nothing.
    std::string (*check)(braid::reload::arena& state);
};

/// A number that the key decides, small enough for every type.
inline unsigned number(unsigned key) {
    key ^= key >> 16;
    key *= 0x7feb352du;
    key ^= key >> 15;
    key *= 0x846ca68bu;
    return (key ^ (key >> 16)) % 100;
}
inline unsigned mixed(unsigned key, unsigned with) { return key * 31 + with * 1000003 + 7; }

inline std::string text(unsigned key) {
    return std::string(number(key) % 30, static_cast<char>('a' + number(key + 1) % 26));
}

}  // namespace random_pairs
