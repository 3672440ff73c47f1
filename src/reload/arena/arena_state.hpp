#pragma once
// What an arena holds.

#include "braid/reload/arena.hpp"
#include "reload/arena/arena_memory.hpp"

#include <mutex>
#include <string>
#include <unordered_map>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct modules_state;

struct arena_state {
    struct type {
        std::string name;
        std::uint64_t size = 0, alignment = 1;
        void (*destroy)(void* at) = nullptr;
        bool migrated = false;  // `destroy` is not yet that of the code that runs
    };
    struct root {
        std::string name;
        std::byte* at = nullptr;
    };

    /// Throws std::invalid_argument: there is a type of that name and of another size.
    std::uint32_t intern(const arena_type& as);
    const root* find(std::string_view name) const;
    /// Adds the names of all types to these, each once.
    void add_types(std::vector<std::string>& names);
    void destroy_objects() noexcept;

    mutable std::mutex mutex;
    arena_memory memory;
    std::vector<type> types;                               // never fewer
    std::unordered_map<const char*, std::uint32_t> known;  // by what spelled() returned
    std::vector<root> roots;
    modules_state* owner = nullptr;
};

/// What an arena enters.
extern const arena_calls calls_of_arenas;

struct arena_door {
    static arena_state& state_of(const arena& of) { return *of.state_; }
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
