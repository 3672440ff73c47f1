#pragma once
// State that outlives a reload, even if the layout of its types changes. The host owns an arena,
// and modules put their objects into it. A frame boundary that brings new types rebuilds each
// object. Modules can include this header without linking a library.
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

/// The functions by which code of a module calls into the host. A module is linked to no library.
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

/// The objects of one program's state. Roots are found by name, other objects through pointers.
///
/// A migration rebuilds the objects that the roots lead to and discards the rest. Pointers and
/// references in the arena, and in containers such as std::vector that it holds, then lead to the
/// new objects. A migration cannot correct a pointer anywhere else, so ask for the root in each
/// frame.
///
/// Any thread may call these functions; each takes a lock. The lock does not protect the objects
/// themselves, which is up to the program. Nobody may use the arena during a frame boundary.
class arena {
public:
    /// Makes the state follow the reloads of these modules. The modules object must outlive the
    /// arena.
    explicit arena(modules& of);
    /// Destroys the objects with the code that made them, or with the code of their
    /// BRAID_RELOAD_TYPE.
    ~arena();
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    /// Returns the object of that name, or makes it with `T()` if there is none. Two threads must
    /// not make the same root at the same time. Throws std::invalid_argument if the object has
    /// another type, or if T has another size than in the arena; std::bad_alloc; or what the
    /// constructor throws.
    template <class T>
    T& root(const char* name) {
        if (void* const known = calls_->root(*state_, name, detail::arena_type_of<T>())) {
            return *static_cast<T*>(known);
        }
        T* const made = make<T>();
        calls_->name(*state_, name, made);
        return *made;
    }
    /// Returns the object of that name, or null if there is none. The type is not checked. T may be
    /// incomplete, as it is in most hosts.
    template <class T>
    T* find(const char* name) const {
        return static_cast<T*>(calls_->find(*state_, name));
    }
    /// Makes an object. It lives as long as a root of the arena leads to it; without such a root it
    /// lives until the next migration. Throws std::bad_alloc, std::invalid_argument if T has
    /// another size than in the arena, or what the constructor throws.
    template <class T, class... Args>
    T* make(Args&&... args) {
        taken own(*this, detail::arena_type_of<T>(), 1);
        T* const made = ::new (own.at) T(std::forward<Args>(args)...);
        own.at = nullptr;
        return made;
    }
    /// Makes `count` objects in a row, each with `T()`. Returns an empty span if `count` is 0.
    /// Throws like make().
    template <class T>
    std::span<T> make_array(std::size_t count) {
        if (count == 0) return {};
        taken own(*this, detail::arena_type_of<T>(), count);
        T* const first = static_cast<T*>(own.at);
        std::uninitialized_value_construct_n(first, count);
        own.at = nullptr;
        return {first, count};
    }

    /// objects() returns how many objects and arrays that root(), make() and make_array() made are
    /// in the arena. bytes() returns their size in bytes.
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
