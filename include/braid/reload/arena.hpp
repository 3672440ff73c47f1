#pragma once
// An arena holds state that outlives a reload, even if the reload changes the layout of the state's
// types. The host owns the arena, and modules put their objects into it. If new code changes the
// types of the objects, the frame boundary that loads the new code rebuilds the objects. Modules
// can include this header without linking a library.
//
//   reload::arena state(modules);                           // host
//   reload::function<void(reload::arena&)> simulate(logic, "simulate", stub);
//
//   void simulate(reload::arena& state) {                   // module
//       game& g = state.root<game>("game");                 // the first call makes it
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

/// The name, size, alignment and destructor of a type, as compiled into the code that uses the
/// arena.
struct arena_type {
    const char* spelled;
    const char* mangled;  // null without run-time type information
    std::uint64_t size, alignment;
    void (*destroy)(void* at);
};

/// The functions through which code in a module calls the host. They are function pointers because
/// a module is not required to link a library.
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

/// Holds the objects of a program's state. The program finds root objects by name and all other
/// objects through pointers.
///
/// A migration rebuilds every object that can be reached from a root and discards the other
/// objects. It corrects pointers and references that are stored in the arena, or in containers such
/// as std::vector in the arena. It cannot correct a pointer that is stored anywhere else, so call
/// root() or find() again in each frame.
///
/// Any thread may call these functions. Each call takes a lock. The lock does not protect the
/// objects themselves; the program must synchronize access to them. No thread may use the arena
/// during a frame boundary.
class arena {
public:
    /// Makes an empty arena. The objects of the arena migrate when a reload of a module in `of`
    /// changes their types. `of` must outlive the arena.
    explicit arena(modules& of);
    /// Destroys the objects. For each object, the arena calls the destructor from the code that
    /// made the object, or from the BRAID_RELOAD_TYPE of the object's type.
    ~arena();
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;

    /// Returns the root named `name`. If the root does not exist, root() makes it with `T()`. Two
    /// threads must not make the same root at the same time. Throws std::invalid_argument if the
    /// root has another type, or if T has another size than in the arena. Throws std::bad_alloc if
    /// there is no memory. Rethrows any exception of the constructor.
    template <class T>
    T& root(const char* name) {
        if (void* const known = calls_->root(*state_, name, detail::arena_type_of<T>())) {
            return *static_cast<T*>(known);
        }
        T* const made = make<T>();
        calls_->name(*state_, name, made);
        return *made;
    }
    /// Returns the root named `name`, or null if it does not exist. The type is not checked. T may
    /// be incomplete, because most hosts only declare the types of the state.
    template <class T>
    T* find(const char* name) const {
        return static_cast<T*>(calls_->find(*state_, name));
    }
    /// Makes an object. The object lives as long as the arena, but a migration discards it if it
    /// cannot be reached from a root. Throws std::invalid_argument if T has another size than in
    /// the arena, and std::bad_alloc if there is no memory. Rethrows any exception of the
    /// constructor.
    template <class T, class... Args>
    T* make(Args&&... args) {
        taken own(*this, detail::arena_type_of<T>(), 1);
        T* const made = ::new (own.at) T(std::forward<Args>(args)...);
        own.at = nullptr;
        return made;
    }
    /// Makes an array of `count` objects, each with `T()`. Returns an empty span if `count` is 0.
    /// Throws the same exceptions as make().
    template <class T>
    std::span<T> make_array(std::size_t count) {
        if (count == 0) return {};
        taken own(*this, detail::arena_type_of<T>(), count);
        T* const first = static_cast<T*>(own.at);
        std::uninitialized_value_construct_n(first, count);
        own.at = nullptr;
        return {first, count};
    }

    /// objects() returns the number of objects and arrays in the arena. An array is counted as one.
    /// bytes() returns the total size of these objects and arrays in bytes. Memory that they own
    /// outside the arena is not counted.
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
