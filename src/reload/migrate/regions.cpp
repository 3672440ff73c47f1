#include "reload/migrate/regions.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

std::optional<std::uint64_t> inside(const migration_plan& plan, const program& p,
                                    std::uint64_t offset, type_id wanted);

std::optional<std::uint64_t> in_piece(const migration_plan& plan, const piece& part,
                                      std::uint64_t offset, type_id wanted) {
    const std::uint64_t size = part.from_size;
    if (size == 0 || offset < part.from || offset >= part.from + size * part.count) return {};
    const std::uint64_t index = (offset - part.from) / size, rest = (offset - part.from) % size;
    if (index >= part.to_count) return {};
    const std::uint64_t to = part.to + index * part.to_size;
    if (rest == 0 && part.type == wanted) return to;
    if (part.program != none) {
        const auto deeper = inside(plan, plan.programs[part.program], rest, wanted);
        if (deeper) return to + *deeper;
        return {};
    }
    // A byte of a number, for example by a char*.
    return wanted == 0 || rest == 0 || part.from_size == part.to_size ? std::optional(to + rest)
                                                                      : std::nullopt;
}

/// Behind the last element of an array of `wanted` that ends there.
std::optional<std::uint64_t> behind(const migration_plan& plan, const program& p,
                                    std::uint64_t offset, type_id wanted) {
    for (const piece& part : p.pieces) {
        if (offset != part.from + part.from_size * part.count) continue;
        const std::uint64_t count = std::min(part.count, part.to_count);
        if (part.row && part.type == wanted) return part.to + part.to_size * count;
        if (part.program == none || count == 0) continue;
        const auto deeper = behind(plan, plan.programs[part.program], part.from_size, wanted);
        if (deeper) return part.to + (count - 1) * part.to_size + *deeper;
    }
    return {};
}

std::optional<std::uint64_t> inside(const migration_plan& plan, const program& p,
                                    std::uint64_t offset, type_id wanted) {
    if (p.same) return offset;
    if (offset == 0 && (wanted == 0 || wanted == p.from_type)) return 0;
    for (const piece& part : p.pieces) {
        if (const auto found = in_piece(plan, part, offset, wanted)) return found;
    }
    if (const auto found = behind(plan, p, offset, wanted)) return found;
    if (p.pieces.empty() && p.from_size == p.to_size) return offset;  // a container
    return offset == 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> place_after(const migration_plan& plan, const program& p,
                                         std::uint64_t count, std::uint64_t offset,
                                         type_id wanted) {
    if (p.from_size == 0) return offset;
    const std::uint64_t index = offset / p.from_size, rest = offset % p.from_size;
    if (index >= count) return count * p.to_size;
    const auto found = inside(plan, p, rest, wanted);
    return found ? std::optional(index * p.to_size + *found) : std::nullopt;
}

void region_map::sort() { std::ranges::sort(all_, {}, &region::begin); }

const region* region_map::find(const std::byte* at) const {
    const auto found = std::ranges::upper_bound(all_, at, {}, &region::begin);
    if (found == all_.begin()) return nullptr;
    const region& before = *(found - 1);
    return at <= before.begin + before.bytes ? &before : nullptr;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
