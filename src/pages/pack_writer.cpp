#include "braid/pages/pack_writer.hpp"

#include "pages/pack_format.hpp"

#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <unordered_set>
#include <utility>

BRAID_NAMESPACE_BEGIN

struct pack_writer::state {
    std::string path, unfinished;
    int level = 0;
    std::ofstream to;
    std::string error;
    std::uint64_t at = sizeof(detail::pack_header);
    std::vector<detail::pack_entry> pages;
    std::string names;
    std::unordered_set<std::string> known;
    std::vector<std::byte> room;
    bool finished = false;

    bool fail(std::string why) {
        if (error.empty()) error = path + ": " + std::move(why);
        return false;
    }
    bool write(const void* bytes, std::size_t count) {
        errno = 0;
        to.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
        if (to) return true;
        return fail(errno != 0 ? std::generic_category().message(errno) : "it cannot be written");
    }
    /// Returns what is to be written for a page: its packed bytes, or `bytes` if packing saves
    /// nothing. Returns an empty span if there is no memory.
    std::span<const std::byte> packed(std::span<const std::byte> bytes);
};

std::span<const std::byte> pack_writer::state::packed(std::span<const std::byte> bytes) {
    if (level == 0) return bytes;
    room.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t count =
        ZSTD_compress(room.data(), room.size(), bytes.data(), bytes.size(), level);
    if (ZSTD_isError(count) != 0) return {};
    return count < bytes.size() ? std::span<const std::byte>(room).first(count) : bytes;
}

pack_writer::pack_writer(std::string path, const pack_options& options)
    : state_(std::make_unique<state>()) {
    state& s = *state_;
    s.path = std::move(path);
    s.unfinished = s.path + ".unfinished";
    s.level = std::clamp(options.level, 0, pack_options::most_level);
    errno = 0;
    s.to.open(s.unfinished, std::ios::binary | std::ios::trunc);
    if (!s.to && errno != 0) s.fail(std::generic_category().message(errno));
    const detail::pack_header nothing{};  // until finish()
    s.write(&nothing, sizeof nothing);
}

pack_writer::~pack_writer() {
    if (state_->finished) return;
    state_->to.close();
    std::error_code ignored;
    std::filesystem::remove(state_->unfinished, ignored);
}

const std::string& pack_writer::error() const { return state_->error; }

bool pack_writer::add(std::string_view name, std::span<const std::byte> bytes) {
    state& s = *state_;
    if (!s.error.empty()) return false;
    const std::string called = "the page '" + std::string(name) + "' ";
    if (name.empty() || name.find('\0') != std::string_view::npos) {
        return s.fail("a page's name is empty, or has a zero in it");
    }
    if (bytes.empty()) return s.fail(called + "is empty");
    if (bytes.size() > page_pack::most_page_bytes) return s.fail(called + "is longer than 1 GiB");
    if (s.pages.size() == page_pack::most_pages) return s.fail("there are too many pages");
    if (s.names.size() + name.size() + 1 > UINT32_MAX) return s.fail("the names are too long");
    if (!s.known.emplace(name).second) return s.fail(called + "was added before");
    const std::span<const std::byte> stored = s.packed(bytes);
    if (stored.empty()) return s.fail("there is no memory to pack " + called);
    if (!s.write(stored.data(), stored.size())) return false;
    s.pages.push_back({.offset = s.at,
                       .packed_bytes = stored.size(),
                       .bytes = bytes.size(),
                       .checksum = detail::pack_checksum(stored.data(), stored.size()),
                       .name_at = static_cast<std::uint32_t>(s.names.size()),
                       .name_bytes = static_cast<std::uint32_t>(name.size())});
    s.at += stored.size();
    s.names.append(name).push_back('\0');
    return true;
}

bool pack_writer::finish() {
    state& s = *state_;
    if (s.finished) return true;
    if (!s.error.empty()) return false;
    std::string tail(reinterpret_cast<const char*>(s.pages.data()),
                     s.pages.size() * sizeof(detail::pack_entry));
    detail::pack_header h{.pages = static_cast<std::uint32_t>(s.pages.size()),
                          .table_at = s.at,
                          .names_at = s.at + tail.size()};
    tail += s.names;
    h.file_bytes = s.at + tail.size();
    h.tail_checksum = detail::pack_checksum(tail.data(), tail.size());
    h.checksum = detail::pack_checksum(&h, offsetof(detail::pack_header, checksum));
    if (!s.write(tail.data(), tail.size())) return false;
    s.to.seekp(0);
    if (!s.write(&h, sizeof h)) return false;
    s.to.close();
    if (!s.to) return s.fail("it cannot be written to its end");
    std::error_code why;
    std::filesystem::rename(s.unfinished, s.path, why);
    if (why) return s.fail(why.message());
    s.finished = true;
    return true;
}

BRAID_NAMESPACE_END
