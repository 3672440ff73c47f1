#pragma once
// A stamp is a small file beside a module that says which bytes were published: what the tables of
// the module itself cannot show, such as a page of zeros in its middle.

#include "reload/image/image.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct stamp {
    std::uint64_t size = 0;
    std::string build_id;
    /// XXH3, 128 bits in hexadecimal, of all bytes; those of the build-id count as zero.
    std::string hash;
};

/// What the stamp of this module is.
stamp stamp_of(std::span<const std::byte> bytes, const image& module);
std::string text_of(const stamp& s);
/// False: this is no stamp.
bool parse(std::string_view text, stamp& out);

enum class stamp_verdict : std::uint8_t {
    whole,    // the bytes are those that were published
    damaged,  // they were changed, cut or filled up since
    other,    // the stamp is another build's, so it says nothing about this one
};
/// One damage leaves the build-id or all other bytes as they were; another build changes both.
stamp_verdict judge(const stamp& said, const stamp& found);

/// Names one content among all; 128 bits in hexadecimal.
std::string hash_of(std::span<const std::byte> bytes);

inline std::string stamp_path(const std::string& module) { return module + ".stamp"; }

}  // namespace reload::detail
BRAID_NAMESPACE_END
