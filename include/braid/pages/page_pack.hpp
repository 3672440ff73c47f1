#pragma once
// A pack: one file of many pages, each with a name, packed by zstd where that makes it smaller.
// In the library braid_pages, as all of braid/pages.

#include "braid/async/file.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

BRAID_NAMESPACE_BEGIN

/// A page that cannot be had; what() names it, its file, and why.
class page_error : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

/// A page of one pack, by its number.
struct page_id {
    std::uint32_t index = UINT32_MAX;
    constexpr explicit operator bool() const { return index != UINT32_MAX; }
    friend constexpr bool operator==(page_id, page_id) = default;
};

struct page_info {
    const char* name = "";  // as long as the pack
    std::uint64_t offset = 0;
    std::size_t packed_bytes = 0;  // in the file; fewer than `bytes`: packed by zstd
    std::size_t bytes = 0;
    std::uint64_t checksum = 0;  // XXH3 of what lies in the file
};

/// Open as long as it lives, which is longer than the caches of its pages. Opening reads and checks
/// the table, and no page; it may take the system some ms. Any thread may call.
class page_pack {
public:
    static constexpr std::uint32_t most_pages = std::uint32_t{1} << 22;
    static constexpr std::size_t most_page_bytes = std::size_t{1} << 30;

    /// Where it fails error() says so: no such file, no pack, cut short, damaged.
    explicit page_pack(std::string path);
    ~page_pack();
    page_pack(const page_pack&) = delete;
    page_pack& operator=(const page_pack&) = delete;

    bool is_open() const { return error_.empty(); }
    /// "" where it is open; else a sentence with the path.
    const std::string& error() const { return error_; }
    const file& source() const { return file_; }
    /// How many pages; 0 where it is not open.
    std::uint32_t size() const;
    /// `id` is one of this pack's.
    page_info operator[](page_id id) const;
    /// Empty: no page has that name. O(log n).
    page_id find(std::string_view name) const;

    /// Is `stored` what was written? 1 GB takes about 50 ms.
    bool verify(page_id id, std::span<const std::byte> stored) const;
    /// `to` has the page's size. False: no memory, or `stored` is not what was written.
    bool unpack(page_id id, std::span<const std::byte> stored, std::span<std::byte> to) const;
    /// The page as a whole, read now by this thread, for tools and tests. Throws page_error.
    void load(page_id id, std::span<std::byte> to) const;
    /// "page 'NAME' of FILE, 4096 bytes at 64: WHY".
    std::string describe(page_id id, std::string_view why) const;

private:
    struct table;
    file file_;
    std::string error_;
    std::unique_ptr<table> table_;
};

BRAID_NAMESPACE_END
