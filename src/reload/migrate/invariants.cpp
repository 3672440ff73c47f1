// The rules that types of the state have of their own, asked while nothing uses the state.
#include "reload/module_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

using check_fn = const char* (*)(const void* at);

check_fn modules_state::check_of(const std::string& type) const {
    for (const auto& one : list) {
        const module_state& m = *one->state_;
        if (m.current == nullptr) continue;
        const object_maker maker = maker_of(m.current->code.types, type);
        if (maker.check != nullptr) return maker.check;
    }
    return nullptr;
}

bool modules_state::has_invariants() const {
    return std::ranges::any_of(list, [](const auto& one) {
        const auto& code = one->state_->current;
        return code != nullptr &&
               std::ranges::any_of(code->code.types, [](const loaded_type& type) {
                   return type.maker.check != nullptr;
               });
    });
}

std::string modules_state::broken_invariant() {
    const std::lock_guard guard(mutex);
    std::string wrong;
    if (!has_invariants()) return wrong;
    for (arena_state* const in : arenas) {
        const std::lock_guard also(in->mutex);
        std::vector<check_fn> checks;
        for (const arena_state::type& one : in->types) checks.push_back(check_of(one.name));
        in->memory.for_each([&](const allocation& a) {
            const check_fn rule = checks[a.type];
            const arena_state::type& type = in->types[a.type];
            for (std::uint64_t i = 0; rule != nullptr && wrong.empty() && i < a.count; ++i) {
                const char* const said = rule(a.at + i * type.size);
                if (said != nullptr) wrong = "reload_invariant of " + type.name + " says: " + said;
            }
        });
    }
    return wrong;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
