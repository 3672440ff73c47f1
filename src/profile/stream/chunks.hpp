#pragma once
// Cuts the bytes of a capture between chunks, into pieces that are kept and pieces that may be
// lost.

#include "profile/capture_writer.hpp"

#include <memory>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Some whole chunks.
struct block {
    enum kind {
        header,  // of the file: what follows is another capture
        kept,    // strings, types, lanes, facts: whoever comes later needs them, too
        events,  // may be lost
        done,    // the last one
    };
    kind what = events;
    std::vector<std::byte> bytes;
};
using shared_block = std::shared_ptr<const block>;

/// A message over the wire is not larger, unless a single chunk of strings is.
inline constexpr std::size_t block_bytes = std::size_t{256} << 10;

/// In order. A chunk of records that is larger than a block becomes several; without `with_events`
/// those that may be lost are left out.
std::vector<shared_block> cut_chunks(std::span<const std::byte> chunks, bool with_events);

}  // namespace profile
BRAID_NAMESPACE_END
