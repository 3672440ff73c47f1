#pragma once
// Where memory that containers own lay and lies now, and where a pointer into an old object leads.

#include "reload/plan/plan.hpp"

#include <cstddef>
#include <optional>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Where in the new objects of a row the place is that pointers to `wanted` knew at `offset` of the
/// old ones; none: the new type has no such place. `wanted` 0: of any type.
std::optional<std::uint64_t> place_after(const migration_plan& plan, const program& p,
                                         std::uint64_t count, std::uint64_t offset, type_id wanted);

struct region {
    const std::byte* begin = nullptr;
    std::uint64_t bytes = 0;
    std::byte* to = nullptr;        // null: it is freed
    const program* what = nullptr;  // null: it stays where it is
    std::uint64_t count = 0;
};

class region_map {
public:
    void add(const region& one) { all_.push_back(one); }
    /// Before the first find().
    void sort();
    /// The region in which the address lies, or just behind; null: none.
    const region* find(const std::byte* at) const;

private:
    std::vector<region> all_;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
