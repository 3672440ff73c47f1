#include "pages/pack_format.hpp"

#include "braid/pages/page_pack.hpp"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>

BRAID_NAMESPACE_BEGIN
namespace detail {

std::uint64_t pack_checksum(const void* bytes, std::size_t count) {
    return XXH3_64bits(bytes, count);
}

std::string_view check_header(const pack_header& h, std::uint64_t file_bytes) {
    if (file_bytes < sizeof h || h.magic != pack_header::right_magic) return "it is no pack";
    if (h.checksum != pack_checksum(&h, offsetof(pack_header, checksum))) {
        return "its header is damaged";
    }
    if (h.version != pack_header::right_version) {
        return "another version of Braid has written it";
    }
    if (h.file_bytes != file_bytes) return "it was cut short, or something was appended";
    // The table's size before its place: nothing here may overflow.
    const std::uint64_t table_bytes = std::uint64_t{h.pages} * sizeof(pack_entry);
    const bool fits = h.pages <= page_pack::most_pages && h.table_at >= sizeof h &&
                      h.table_at <= file_bytes && table_bytes <= file_bytes - h.table_at &&
                      h.names_at == h.table_at + table_bytes;
    return fits ? "" : "its header contradicts itself";
}

namespace {

bool is_within(const pack_header& h, const pack_entry& e) {
    return e.bytes != 0 && e.bytes <= page_pack::most_page_bytes && e.packed_bytes != 0 &&
           e.packed_bytes <= e.bytes && e.offset >= sizeof h && e.offset <= h.table_at &&
           e.packed_bytes <= h.table_at - e.offset;
}

bool has_name(const pack_entry& e, std::span<const std::byte> names) {
    if (e.name_bytes == 0 || e.name_at >= names.size()) return false;
    if (e.name_bytes >= names.size() - e.name_at) return false;  // the zero comes after it
    const auto* const first = reinterpret_cast<const char*>(names.data()) + e.name_at;
    return strnlen(first, std::size_t{e.name_bytes} + 1) == e.name_bytes;
}

}  // namespace

std::string_view read_table(const pack_header& h, std::vector<std::byte>&& tail, pack_table& to) {
    if (tail.size() != h.file_bytes - h.table_at ||
        pack_checksum(tail.data(), tail.size()) != h.tail_checksum) {
        return "its table is damaged";
    }
    to.tail = std::move(tail);
    const std::size_t table_bytes = h.pages * sizeof(pack_entry);
    to.pages.resize(h.pages);
    if (table_bytes != 0) std::memcpy(to.pages.data(), to.tail.data(), table_bytes);
    to.names = reinterpret_cast<const char*>(to.tail.data()) + table_bytes;
    const std::span<const std::byte> names = std::span(to.tail).subspan(table_bytes);
    const bool well = std::all_of(to.pages.begin(), to.pages.end(), [&](const pack_entry& e) {
        return is_within(h, e) && has_name(e, names);
    });
    if (!well) return "its table contradicts itself";
    to.by_names.resize(h.pages);
    std::iota(to.by_names.begin(), to.by_names.end(), 0U);
    const auto before = [&](std::uint32_t a, std::uint32_t b) { return to.name(a) < to.name(b); };
    std::sort(to.by_names.begin(), to.by_names.end(), before);
    const auto same = [&](std::uint32_t a, std::uint32_t b) { return to.name(a) == to.name(b); };
    const bool unique =
        std::adjacent_find(to.by_names.begin(), to.by_names.end(), same) == to.by_names.end();
    return unique ? "" : "two of its pages have one name";
}

bool verify_page(const pack_entry& e, std::span<const std::byte> stored) {
    return stored.size() == e.packed_bytes &&
           pack_checksum(stored.data(), stored.size()) == e.checksum;
}

bool unpack_page(const pack_entry& e, std::span<const std::byte> stored, std::span<std::byte> to) {
    if (stored.size() != e.packed_bytes || to.size() != e.bytes) return false;
    if (e.packed_bytes == e.bytes) {
        std::memcpy(to.data(), stored.data(), to.size());
        return true;
    }
    // 160 KB, which would else be allocated for each page.
    static thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> own(
        ZSTD_createDCtx(), &ZSTD_freeDCtx);
    return own != nullptr && ZSTD_decompressDCtx(own.get(), to.data(), to.size(), stored.data(),
                                                 stored.size()) == to.size();
}

}  // namespace detail
BRAID_NAMESPACE_END
