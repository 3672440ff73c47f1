#pragma once

#include "braid/pages/page_pack.hpp"

#include <memory>
#include <string>

BRAID_NAMESPACE_BEGIN

struct pack_options {
    static constexpr int most_level = 19;
    int level = 3;  // of zstd, 1 … most_level; 0: nothing is packed. Outside: the nearest
};

/// Writes a pack, for tools. One thread at a time. The file appears under its name when finish()
/// has gone well; an older file of that name stays until then.
class pack_writer {
public:
    explicit pack_writer(std::string path, const pack_options& options = {});
    /// Without finish() nothing is left.
    ~pack_writer();
    pack_writer(const pack_writer&) = delete;
    pack_writer& operator=(const pack_writer&) = delete;

    /// Pages lie in the file in this order: what is wanted together is read in one request. False,
    /// and error() says why: an empty name or page, a name of another page, too long, too many, the
    /// disk is full.
    bool add(std::string_view name, std::span<const std::byte> bytes);
    /// False: error() says why.
    bool finish();
    /// The first failure, after which nothing more is written; "" when all is well.
    const std::string& error() const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

BRAID_NAMESPACE_END
