#pragma once
// A pack is one file that holds many pages. Each page has a name. A page is packed by zstd if this
// makes the page smaller. All of braid/pages is in the library braid_pages.

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

/// Thrown for a page that cannot be loaded. what() contains the page's name, its file and the
/// reason.
class page_error : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

/// Identifies a page of one pack by its number.
struct page_id {
    std::uint32_t index = UINT32_MAX;
    constexpr explicit operator bool() const { return index != UINT32_MAX; }
    friend constexpr bool operator==(page_id, page_id) = default;
};

struct page_info {
    const char* name = "";  // valid as long as the pack exists
    std::uint64_t offset = 0;
    std::size_t packed_bytes = 0;  // in the file; fewer than `bytes` if the page is packed by zstd
    std::size_t bytes = 0;
    std::uint64_t checksum = 0;  // XXH3 of the page's bytes in the file
};

/// The file stays open as long as the pack exists. A pack must outlive the caches of its pages. The
/// constructor reads and checks the table of the pages, but reads no page. The constructor may
/// spend a few ms in calls of the operating system. Any thread may call all functions.
class page_pack {
public:
    static constexpr std::uint32_t most_pages = std::uint32_t{1} << 22;
    static constexpr std::size_t most_page_bytes = std::size_t{1} << 30;

    /// Opens the file. On failure, error() returns the reason, for example that the file does not
    /// exist, is not a pack, is truncated or is damaged.
    explicit page_pack(std::string path);
    ~page_pack();
    page_pack(const page_pack&) = delete;
    page_pack& operator=(const page_pack&) = delete;

    bool is_open() const { return error_.empty(); }
    /// Returns "" if the pack is open, otherwise a sentence that contains the path.
    const std::string& error() const { return error_; }
    const file& source() const { return file_; }
    /// Returns the number of pages, or 0 if the pack is not open.
    std::uint32_t size() const;
    /// Returns information about a page. `id` must be of this pack.
    page_info operator[](page_id id) const;
    /// Finds a page by its name, in O(log n). Returns an empty id if no page has that name.
    page_id find(std::string_view name) const;

    /// Returns true if the checksum of `stored` is the checksum of the page in the file. The cost
    /// is about 50 ms for 1 GB.
    bool verify(page_id id, std::span<const std::byte> stored) const;
    /// Unpacks `stored` to `to`. The size of `to` must be the page's size. Returns false if there
    /// is no memory, or if `stored` is not the page in the file.
    bool unpack(page_id id, std::span<const std::byte> stored, std::span<std::byte> to) const;
    /// Reads the whole page on the calling thread before it returns. load() is meant for tools and
    /// tests. Throws page_error if the page cannot be read or unpacked.
    void load(page_id id, std::span<std::byte> to) const;
    /// Returns a text such as "page 'NAME' of FILE, 4096 bytes at 64: WHY".
    std::string describe(page_id id, std::string_view why) const;

private:
    struct table;
    file file_;
    std::string error_;
    std::unique_ptr<table> table_;
};

BRAID_NAMESPACE_END
