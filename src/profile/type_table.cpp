#include "profile/type_table.hpp"

#include "base/platform/platform.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile {

type_table::found type_table::intern(const char* name, const std::source_location& where) {
    const bool lasting = name == nullptr || platform::is_static(name);
    if (name == nullptr) name = "";
    const bool placed = where.line() != 0;
    const std::lock_guard lock(mutex_);
    auto number = static_cast<std::uint32_t>(types_.size());
    const auto [at, added] =
        numbers_.try_emplace({name, placed ? where.file_name() : "", where.line()}, number);
    if (added) {
        types_.push_back({name, std::get<1>(at->first), where.line()});
    }
    return {at->second, lasting};
}

std::uint32_t type_cache::look_up(row& r, const char* name, const std::source_location& where) {
    const type_table::found f = all_.intern(name, where);
    // A long name that is no literal is compared with what is kept of it, and that is not enough.
    const bool keeps = name == nullptr || f.lasting || std::strlen(name) < kept;
    r = {};
    if (!keeps) return f.number;
    r.name = name;
    r.file = where.file_name();
    r.line = where.line();
    r.number = f.number;
    r.lasting = f.lasting;
    if (name != nullptr) std::strncpy(r.text, name, kept - 1);
    return f.number;
}

}  // namespace profile
BRAID_NAMESPACE_END
