// Assets that come from a pack while the game runs, in bounded memory.
#pragma once

#include "../options.hpp"
#include "assets.hpp"

#include <braid/pages/page_cache.hpp>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace arena::host {

/// What the command line says: "uring", "threads" or "automatic", and "seed=7,eio=0.01,delay=5".
/// Throws a sentence where it is wrong.
braid::file_back_end parse_back_end(std::string_view text);
braid::file_faults parse_faults(std::string_view text);

/// Writes the pack, unless that file has these very assets. Throws a sentence.
void make_pack(const std::filesystem::path& file, const all_assets& all);

class streamed_assets {
public:
    /// `frames` may be in flight. Throws a sentence.
    streamed_assets(braid::scheduler& s, const stream_options& wish, unsigned frames);

    const asset_pages& pages() const { return table_; }

    braid::page_cache_statistics statistics() const { return cache_.statistics(); }
    braid::file_reader_statistics reads() const { return io_.statistics(); }
    /// For pictures: which pages of the pack are in memory.
    std::uint32_t pack_size() const { return pack_.size(); }
    bool is_resident(std::uint32_t page) const { return cache_.is_resident({page}); }

private:
    void begin_frame(std::uint64_t frame);

    const braid::page_pack pack_;
    std::vector<braid::page_id> ids_;  // by the game's numbers
    braid::file_reader io_;
    braid::page_cache cache_;
    asset_pages table_;
};

}  // namespace arena::host
