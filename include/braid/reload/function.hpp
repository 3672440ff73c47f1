#pragma once
// A function of a module, called through a pointer that follows reloads.

#include "braid/reload/modules.hpp"
#include "braid/reload/records.hpp"

#include <atomic>
#include <utility>

#if defined(__GXX_RTTI) || defined(__cpp_rtti)
#include <typeinfo>
#endif

BRAID_NAMESPACE_BEGIN
namespace reload {
namespace detail {

/// What the host wants of a module: a name and a signature. The modules object writes `target`.
struct import {
    import(module& of, const char* wanted, const char* signature_text, const char* mangled_name,
           void (*instead)());
    ~import();
    import(const import&) = delete;
    import& operator=(const import&) = delete;

    /// A call has thrown an exception, which goes on to the caller.
    void has_thrown() const;

    module& owner;
    const char* const name;
    const char* const spelled;
    const char* const mangled;  // null without run-time type information
    void (*const stub)();
    std::atomic<void (*)()> target;
};

}  // namespace detail

template <class Signature>
class function;

/// Calls `name` of that module, and `stub` while nothing valid is loaded. A module without that
/// export, or with another signature there, is refused as a whole.
///
/// Construction and destruction: any thread, under a lock. A call: any thread, one load and one
/// indirect call. An exception of code that has just been reloaded reaches the caller, and the next
/// boundary goes back (modules::roll_back()). `name` outlives this; this is destroyed before the
/// modules object.
template <class R, class... Args>
class function<R(Args...)> {
public:
    function(module& of, const char* name, R (*stub)(Args...))
        : import_(of, name, detail::spelled<R(Args...)>(), mangled(),
                  reinterpret_cast<void (*)()>(stub)) {}

    R operator()(Args... args) const {
        // acquire: pairs with the release in modules_state::swap(). Who sees the new code sees what
        // its static constructors wrote.
        const auto now = import_.target.load(std::memory_order_acquire);
        try {
            return reinterpret_cast<R (*)(Args...)>(now)(std::forward<Args>(args)...);
        } catch (...) {
            import_.has_thrown();
            throw;
        }
    }
    /// False: the stub is what a call runs. Any thread.
    bool loaded() const {
        // relaxed: it says what was, and leads to nothing.
        return import_.target.load(std::memory_order_relaxed) != import_.stub;
    }

private:
    static const char* mangled() {
#if defined(__GXX_RTTI) || defined(__cpp_rtti)
        return typeid(R(Args...)).name();
#else
        return nullptr;
#endif
    }
    detail::import import_;
};

}  // namespace reload
BRAID_NAMESPACE_END
