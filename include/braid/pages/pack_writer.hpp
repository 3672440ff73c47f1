#pragma once

#include "braid/pages/page_pack.hpp"

#include <memory>
#include <string>

BRAID_NAMESPACE_BEGIN

struct pack_options {
    static constexpr int most_level = 19;
    int level = 3;  // the zstd level, 0..most_level, clamped; 0 stores pages unpacked
};

/// Writes a pack. A pack_writer is meant for tools. Only one thread at a time may use a
/// pack_writer. The file appears under its name when finish() has succeeded. Until then, an
/// existing file of this name is kept.
class pack_writer {
public:
    explicit pack_writer(std::string path, const pack_options& options = {});
    /// Removes the unfinished file if finish() has not succeeded.
    ~pack_writer();
    pack_writer(const pack_writer&) = delete;
    pack_writer& operator=(const pack_writer&) = delete;

    /// Adds a page. The file stores the pages in the order of the add() calls. Add pages that are
    /// needed together one after another, so that one request can read them. Returns false on
    /// failure, and error() then returns the reason. Reasons are, for example: the name or the page
    /// is empty, another page has the name, the page is too long, there are too many pages, or the
    /// disk is full.
    bool add(std::string_view name, std::span<const std::byte> bytes);
    /// Completes the file. Returns false on failure, and error() then returns the reason.
    bool finish();
    /// Returns a description of the first failure, or "" if no call has failed. After a failure
    /// nothing more is written.
    const std::string& error() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

BRAID_NAMESPACE_END
