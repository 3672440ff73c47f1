#include "profile/type_table.hpp"

#include "profile/own_header.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

std::uint32_t type_table::intern(const char* name, const std::source_location& where) {
    const bool placed = where.line() != 0 && !is_own_header(where.file_name());
    const std::uint32_t line = placed ? where.line() : 0;
    const std::lock_guard lock(mutex_);
    const auto number = static_cast<std::uint32_t>(types_.size());
    const auto [at, added] = numbers_.try_emplace(
        {name != nullptr ? name : "", placed ? where.file_name() : "", line}, number);
    if (added) types_.push_back({std::get<0>(at->first), std::get<1>(at->first), line});
    return at->second;
}

}  // namespace profile
BRAID_NAMESPACE_END
