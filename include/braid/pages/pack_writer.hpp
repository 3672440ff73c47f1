#pragma once

#include "braid/pages/page_pack.hpp"

#include <memory>
#include <string>

BRAID_NAMESPACE_BEGIN

struct pack_options {
    static constexpr int most_level = 19;
    int level = 3;  // of zstd, 0..most_level, clamped; 0 packs nothing
};

/// Writes a pack. It is for tools, and one thread at a time may use it. The file appears under its
/// name when finish() has succeeded. An older file of that name stays until then.
class pack_writer {
public:
    explicit pack_writer(std::string path, const pack_options& options = {});
    /// Removes the unfinished file if finish() has not succeeded.
    ~pack_writer();
    pack_writer(const pack_writer&) = delete;
    pack_writer& operator=(const pack_writer&) = delete;

    /// Adds a page. Pages lie in the file in the order of these calls, so that pages that are
    /// wanted together can be read in one request. Returns false if that fails, and error() says
    /// why: the name or the page is empty, another page has the name, the page is too long, there
    /// are too many pages, or the disk is full.
    bool add(std::string_view name, std::span<const std::byte> bytes);
    /// Completes the file. Returns false if that fails, and error() says why.
    bool finish();
    /// Returns the first failure, or "" if there was none. Nothing more is written after a failure.
    const std::string& error() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

BRAID_NAMESPACE_END
