#pragma once
// What lies in a pack, all little-endian: the header, the pages one after the other, and at the end
// the table and the names, each followed by a zero.

#include "braid/base/version.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace detail {

static_assert(std::endian::native == std::endian::little);

struct pack_header {
    static constexpr std::uint64_t right_magic = 0x4b50'4449'4152'42;  // "BRAIDPK", zero
    static constexpr std::uint32_t right_version = 1;

    std::uint64_t magic = right_magic;
    std::uint32_t version = right_version;
    std::uint32_t pages = 0;
    std::uint64_t file_bytes = 0;
    std::uint64_t table_at = 0, names_at = 0;
    std::uint64_t tail_checksum = 0;  // XXH3 of table and names
    std::uint64_t checksum = 0;       // XXH3 of the fields before
};
static_assert(sizeof(pack_header) == 56);

struct pack_entry {
    std::uint64_t offset = 0, packed_bytes = 0, bytes = 0, checksum = 0;
    std::uint32_t name_at = 0, name_bytes = 0;
};
static_assert(sizeof(pack_entry) == 40);

std::uint64_t pack_checksum(const void* bytes, std::size_t count);

/// What is wrong with them, "": nothing. `file_bytes`: as the system says.
std::string_view check_header(const pack_header& h, std::uint64_t file_bytes);

/// A table that holds together: names are unique and end with a zero, pages lie within the file.
struct pack_table {
    std::vector<std::byte> tail;          // table and names
    std::vector<pack_entry> pages;        // as they were added
    std::vector<std::uint32_t> by_names;  // in order of their names
    const char* names = nullptr;          // in `tail`

    std::string_view name(std::uint32_t page) const {
        return {names + pages[page].name_at, pages[page].name_bytes};
    }
};

/// Takes `tail`, which is what follows the pages of a file whose header was checked. What is wrong
/// with it, "": nothing.
std::string_view read_table(const pack_header& h, std::vector<std::byte>&& tail, pack_table& to);

bool verify_page(const pack_entry& e, std::span<const std::byte> stored);
/// False: no memory, or `stored` unpacks to something else than `to` has room for.
bool unpack_page(const pack_entry& e, std::span<const std::byte> stored, std::span<std::byte> to);

}  // namespace detail
BRAID_NAMESPACE_END
