#include "braid/pages/page_pack.hpp"

#include "pages/pack_format.hpp"

#include <algorithm>
#include <fstream>
#include <utility>

BRAID_NAMESPACE_BEGIN

struct page_pack::table : detail::pack_table {};

namespace {

/// False: the file has not that many bytes there.
bool read_at(std::ifstream& from, std::uint64_t offset, void* to, std::size_t bytes) {
    from.seekg(static_cast<std::streamoff>(offset));
    from.read(static_cast<char*>(to), static_cast<std::streamsize>(bytes));
    return static_cast<bool>(from);
}

/// "" and the table; or what is wrong with it.
std::string_view read_pack(const file& of, detail::pack_table& to) {
    std::ifstream from(of.path(), std::ios::binary);
    const std::uint64_t file_bytes = of.size();
    detail::pack_header h{};
    if (file_bytes < sizeof h || !read_at(from, 0, &h, sizeof h)) return "it is no pack";
    if (const auto why = check_header(h, file_bytes); !why.empty()) return why;
    std::vector<std::byte> tail(static_cast<std::size_t>(file_bytes - h.table_at));
    if (!read_at(from, h.table_at, tail.data(), tail.size())) return "its table cannot be read";
    return read_table(h, std::move(tail), to);
}

}  // namespace

page_pack::page_pack(std::string path)
    : file_(std::move(path)), error_(file_.error()), table_(std::make_unique<table>()) {
    if (!file_.is_open()) return;
    const std::string_view why = read_pack(file_, *table_);
    if (why.empty()) return;
    error_ = file_.path() + ": " + std::string(why);
    *table_ = {};
}

page_pack::~page_pack() = default;

std::uint32_t page_pack::size() const { return static_cast<std::uint32_t>(table_->pages.size()); }

page_info page_pack::operator[](page_id id) const {
    const detail::pack_entry& e = table_->pages[id.index];
    return {.name = table_->names + e.name_at,
            .offset = e.offset,
            .packed_bytes = static_cast<std::size_t>(e.packed_bytes),
            .bytes = static_cast<std::size_t>(e.bytes),
            .checksum = e.checksum};
}

page_id page_pack::find(std::string_view name) const {
    const auto& all = table_->by_names;
    const auto found = std::lower_bound(
        all.begin(), all.end(), name,
        [this](std::uint32_t page, std::string_view n) { return table_->name(page) < n; });
    const bool is_there = found != all.end() && table_->name(*found) == name;
    return is_there ? page_id{*found} : page_id{};
}

bool page_pack::verify(page_id id, std::span<const std::byte> stored) const {
    return detail::verify_page(table_->pages[id.index], stored);
}

bool page_pack::unpack(page_id id, std::span<const std::byte> stored,
                       std::span<std::byte> to) const {
    return detail::unpack_page(table_->pages[id.index], stored, to);
}

void page_pack::load(page_id id, std::span<std::byte> to) const {
    const page_info p = (*this)[id];
    std::vector<std::byte> stored(p.packed_bytes);
    std::ifstream from(file_.path(), std::ios::binary);
    if (!read_at(from, p.offset, stored.data(), stored.size())) {
        throw page_error(describe(id, "it cannot be read"));
    }
    if (!verify(id, stored)) throw page_error(describe(id, "its checksum is wrong"));
    if (!unpack(id, stored, to)) throw page_error(describe(id, "it cannot be unpacked"));
}

std::string page_pack::describe(page_id id, std::string_view why) const {
    const page_info p = (*this)[id];
    return "page '" + std::string(p.name) + "' of " + file_.path() + ", " +
           std::to_string(p.packed_bytes) + " bytes at " + std::to_string(p.offset) + ": " +
           std::string(why);
}

BRAID_NAMESPACE_END
