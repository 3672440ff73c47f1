#include "reload/stamp/stamp.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <charconv>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

constexpr std::string_view title = "braid-reload-stamp 1\n";

std::string text_of_hash(const XXH128_hash_t& hash) {
    XXH128_canonical_t bytes;
    XXH128_canonicalFromHash(&bytes, hash);
    std::string text;
    for (const unsigned char byte : bytes.digest) {
        text += "0123456789abcdef"[byte >> 4];
        text += "0123456789abcdef"[byte & 15];
    }
    return text;
}

/// The rest of the line that begins with `name`, and what follows it; false: another line.
bool take_line(std::string_view& text, std::string_view name, std::string_view& value) {
    const std::size_t end = text.find('\n');
    if (!text.starts_with(name) || end == std::string_view::npos) return false;
    value = text.substr(name.size(), end - name.size());
    text.remove_prefix(end + 1);
    return true;
}

}  // namespace

std::string hash_of(std::span<const std::byte> bytes) {
    return text_of_hash(XXH3_128bits(bytes.data(), bytes.size()));
}

stamp stamp_of(std::span<const std::byte> bytes, const image& module) {
    const std::uint64_t begin = module.build_id_offset(), size = module.build_id_size();
    constexpr std::byte zeros[64] = {};
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    XXH3_128bits_update(&state, bytes.data(), begin);
    XXH3_128bits_update(&state, zeros, size);
    XXH3_128bits_update(&state, bytes.data() + begin + size, bytes.size() - begin - size);
    return {bytes.size(), module.build_id(), text_of_hash(XXH3_128bits_digest(&state))};
}

std::string text_of(const stamp& s) {
    return std::string(title) + "size " + std::to_string(s.size) + "\nbuild-id " + s.build_id +
           "\nxxh3 " + s.hash + "\n";
}

bool parse(std::string_view text, stamp& out) {
    std::string_view size, id, hash;
    if (!text.starts_with(title)) return false;
    text.remove_prefix(title.size());
    if (!take_line(text, "size ", size) || !take_line(text, "build-id ", id) ||
        !take_line(text, "xxh3 ", hash) || !text.empty()) {
        return false;
    }
    const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), out.size);
    out.build_id = id;
    out.hash = hash;
    return error == std::errc() && end == size.data() + size.size();
}

stamp_verdict judge(const stamp& said, const stamp& found) {
    const bool same_bytes = said.size == found.size && said.hash == found.hash;
    const bool same_build = said.build_id == found.build_id;
    if (same_bytes && same_build) return stamp_verdict::whole;
    return same_bytes || same_build ? stamp_verdict::damaged : stamp_verdict::other;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
