#pragma once
// State that outlives a reload, although the layout of its types changes: the host owns an arena,
// modules put their objects into it, and a frame boundary that brings new types builds each object
// anew. Modules include this without a library.
//
//   reload::arena state(modules);                           // host
//   reload::function<void(reload::arena&)> simulate(logic, "simulate", stub);
//
//   void simulate(reload::arena& state) {                   // module
//       game& g = state.root<game>("game");                 // made by the first call
//       if (g.all.empty()) g.all = state.make_array<character>(100);
//       g.leader = &g.all[0];
//   }

#include "braid/reload/records.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#include <typeinfo>
#endif

BRAID_NAMESPACE_BEGIN
namespace reload {

class modules;

namespace detail {

struct arena_state;
struct arena_door;

/// A type as the code that puts its objects into an arena sees it.
struct arena_type {
    const char* spelled;
    const char* mangled;  // null without run-time type information
    std::uint64_t size, alignment;
    void (*destroy)(void* at);
};

/// How code of a module, which is linked to no library, enters the host.
struct arena_calls {
    void* (*find)(const arena_state& in, const char* name);
    void* (*root)(arena_state& in, const char* name, const arena_type& type);
    void* (*take)(arena_state& in, const arena_type& type, std::uint64_t count);
    void (*forget)(arena_state& in, void* object) noexcept;
    void (*name)(arena_state& in, const char* name, void* object);
};

template <class T>
constexpr arena_type arena_type_of() {
    arena_type type{spelled<T>(), nullptr, sizeof(T), alignof(T), nullptr};
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
    type.mangled = typeid(T).name();
#endif
    if constexpr (!std::is_trivially_destructible_v<T>) {
        type.destroy = [](void* at) { static_cast<T*>(at)->~T(); };
    }
    return type;
}

}  // namespace detail

/// Objects of one program's state, found by the names of roots and by pointers.
///
/// A migration builds anew what the roots lead to, and what nothing leads to is gone; pointers and
/// references in the arena, and in the std::vectors and the like that it holds, lead to the new
/// objects. It cannot correct a pointer anywhere else: ask for the root in each frame.
///
/// Any thread, under a lock; the objects themselves are the program's business. At a frame boundary
/// nobody uses the arena.
class arena {
public:
    /// The state follows the reloads of these modules, which outlive it.
    explicit arena(modules& of);
    /// Destroys the objects by the code that made them, or by that of their BRAID_RELOAD_TYPE.
    ~arena();
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    /// The object of that name, made by `T()` if there is none. Throws std::invalid_argument if
    /// there is one of another type, or std::bad_alloc.
    template <class T>
    T& root(const char* name) {
        if (void* const known = calls_->root(*state_, name, detail::arena_type_of<T>())) {
            return *static_cast<T*>(known);
        }
        T* const made = make<T>();
        calls_->name(*state_, name, made);
        return *made;
    }
    /// The object of that name, or null; T may be incomplete, as it is in most hosts.
    template <class T>
    T* find(const char* name) const {
        return static_cast<T*>(calls_->find(*state_, name));
    }
    /// An object that lives as long as something in the arena leads to it, or up to the next
    /// migration. Throws std::bad_alloc, or what the constructor throws.
    template <class T, class... Args>
    T* make(Args&&... args) {
        taken own(*this, detail::arena_type_of<T>(), 1);
        T* const made = ::new (own.at) T(std::forward<Args>(args)...);
        own.at = nullptr;
        return made;
    }
    /// Makes `count` objects in a row, each of them `T()`.
    template <class T>
    std::span<T> make_array(std::size_t count) {
        if (count == 0) return {};
        taken own(*this, detail::arena_type_of<T>(), count);
        T* const first = static_cast<T*>(own.at);
        std::uninitialized_value_construct_n(first, count);
        own.at = nullptr;
        return {first, count};
    }

    /// How many calls of root(), make() and make_array() have objects here, and their size.
    std::size_t objects() const;
    std::size_t bytes() const;

private:
    struct taken {
        taken(arena& from, const detail::arena_type& type, std::uint64_t count)
            : of(from), at(from.calls_->take(*from.state_, type, count)) {}
        ~taken() {
            if (at != nullptr) of.calls_->forget(*of.state_, at);
        }
        taken(const taken&) = delete;
        taken& operator=(const taken&) = delete;
        arena& of;
        void* at;
    };
    friend struct detail::arena_door;
    const detail::arena_calls* calls_;
    detail::arena_state* state_;
};

}  // namespace reload
BRAID_NAMESPACE_END
