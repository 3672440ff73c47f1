#pragma once
// Turns what is known into the chunks of a capture, for a file or for a live view. One thread.

#include "braid/profile/capture.hpp"

#include <cstring>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace profile {

constexpr std::uint32_t tag_of(const char (&text)[5]) {
    std::uint32_t tag = 0;
    for (int i = 0; i < 4; ++i) {
        tag |= static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])) << (8 * i);
    }
    return tag;
}

inline constexpr char capture_magic[] = "BRAIDCAP";
inline constexpr std::uint32_t capture_version = 1;
inline constexpr std::size_t capture_header_bytes = 32;

const char* name_of(switch_level level);

/// Appends to a buffer that whoever sends or writes it takes away. Each call leaves whole chunks.
class capture_writer {
public:
    void header(std::uint64_t began_at);
    /// Types are numbered in the order of these calls, from 1.
    std::uint32_t type(std::string_view name, std::string_view file, std::uint32_t line);
    void lane(std::uint32_t number, const profile::lane& about);
    /// A chunk of records; `dropped` since the last one of this lane.
    void records(std::uint32_t lane, std::span<const record> of_lane, std::uint64_t dropped);
    void clock(const clock_pair& both);
    void info(std::string_view key, std::string_view value);
    void done(std::uint64_t duration);

    /// What was appended since the last call; valid until the next call of anything.
    std::vector<std::byte> take();

private:
    template <class T>
    void put(const T& value);
    void begin_chunk(std::uint32_t tag);
    void end_chunk();
    std::uint32_t string(std::string_view text);

    std::vector<std::byte> bytes_;
    std::size_t chunk_ = 0;
    std::unordered_map<std::string, std::uint32_t> strings_;
    std::uint32_t types_ = 1;
};

}  // namespace profile
BRAID_NAMESPACE_END
