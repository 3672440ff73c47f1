// Broken packs for their reader: it refuses them, or what it gives lies within them. The sums are
// made right before, or nothing would come past them.
#include "pages/pack_format.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

using namespace braid::detail;

namespace {

void require(bool holds) {
    if (!holds) std::abort();
}

void make_sums_right(std::vector<std::byte>& file) {
    pack_header h{};
    std::memcpy(&h, file.data(), sizeof h);
    h.magic = pack_header::right_magic;
    h.version = pack_header::right_version;
    h.file_bytes = file.size();
    if (h.table_at <= file.size()) {
        h.tail_checksum = pack_checksum(file.data() + h.table_at,
                                        static_cast<std::size_t>(file.size() - h.table_at));
    }
    h.checksum = pack_checksum(&h, offsetof(pack_header, checksum));
    std::memcpy(file.data(), &h, sizeof h);
}

void use(const pack_table& table, const std::vector<std::byte>& file) {
    for (std::uint32_t i = 0; i < table.pages.size(); ++i) {
        const pack_entry& e = table.pages[i];
        require(table.name(i).data()[table.name(i).size()] == '\0');
        require(table.name(table.by_names[i]).size() != 0);
        const std::span<const std::byte> stored = std::span(file).subspan(
            static_cast<std::size_t>(e.offset), static_cast<std::size_t>(e.packed_bytes));
        verify_page(e, stored);
        if (e.bytes > (1U << 20)) continue;
        std::vector<std::byte> to(static_cast<std::size_t>(e.bytes));
        unpack_page(e, stored, to);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* bytes, std::size_t size) {
    std::vector<std::byte> file(size);
    if (size != 0) std::memcpy(file.data(), bytes, size);
    pack_header h{};
    if (size >= sizeof h) {
        make_sums_right(file);
        std::memcpy(&h, file.data(), sizeof h);
    }
    if (!check_header(h, size).empty()) return 0;
    pack_table table;
    std::vector<std::byte> tail(file.begin() + static_cast<std::ptrdiff_t>(h.table_at), file.end());
    if (read_table(h, std::move(tail), table).empty()) use(table, file);
    return 0;
}
