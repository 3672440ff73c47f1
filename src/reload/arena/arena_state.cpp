#include "reload/arena/arena_state.hpp"

#include "reload/image/type_records.hpp"

#include <algorithm>
#include <stdexcept>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

void* find_root(const arena_state& in, const char* name) {
    const std::lock_guard guard(in.mutex);
    const arena_state::root* const found = in.find(name);
    return found != nullptr ? found->at : nullptr;
}

void* root_of_type(arena_state& in, const char* name, const arena_type& type) {
    const std::lock_guard guard(in.mutex);
    const arena_state::root* const found = in.find(name);
    if (found == nullptr) return nullptr;
    const std::uint32_t is = in.memory.find(found->at)->type, wanted = in.intern(type);
    if (is == wanted) return found->at;
    throw std::invalid_argument("arena::root: '" + found->name + "' is a " + in.types[is].name +
                                ", and was asked for as a " + in.types[wanted].name + ".");
}

void* take(arena_state& in, const arena_type& type, std::uint64_t count) {
    const std::lock_guard guard(in.mutex);
    const std::uint32_t index = in.intern(type);
    return in.memory.take(index, count, type.size, type.alignment);
}

void forget(arena_state& in, void* object) noexcept {
    const std::lock_guard guard(in.mutex);
    if (allocation* const found = in.memory.find(object)) found->count = 0;
}

void name_root(arena_state& in, const char* name, void* object) {
    const std::lock_guard guard(in.mutex);
    in.roots.push_back({name, static_cast<std::byte*>(object)});
}

}  // namespace

const arena_calls calls_of_arenas = {find_root, root_of_type, take, forget, name_root};

std::uint32_t arena_state::intern(const arena_type& as) {
    auto at = known.find(as.spelled);
    if (at == known.end()) {
        const std::string name = record_name(as.spelled, as.mangled != nullptr ? as.mangled : "");
        const auto same = std::ranges::find(types, name, &arena_state::type::name);
        const auto index = static_cast<std::uint32_t>(same - types.begin());
        if (same == types.end()) {
            types.push_back({name, as.size, as.alignment, as.destroy, false});
        }
        at = known.emplace(as.spelled, index).first;
    }
    type& own = types[at->second];
    if (own.size != as.size) {
        throw std::invalid_argument("arena: " + own.name + " has " + std::to_string(own.size) +
                                    " bytes in the state and " + std::to_string(as.size) +
                                    " in the code that uses it.");
    }
    if (own.migrated) {
        own.destroy = as.destroy;
        own.migrated = false;
    }
    return at->second;
}

const arena_state::root* arena_state::find(std::string_view name) const {
    const auto found = std::ranges::find(roots, name, &root::name);
    return found != roots.end() ? &*found : nullptr;
}

void arena_state::add_types(std::vector<std::string>& names) {
    const std::lock_guard guard(mutex);
    for (const type& one : types) {
        if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
    }
}

void arena_state::destroy_objects() noexcept {
    memory.for_each([this](allocation& a) {
        const type& own = types[a.type];
        if (own.destroy == nullptr) return;
        for (std::uint64_t i = 0; i < a.count; ++i) own.destroy(a.at + i * own.size);
    });
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
