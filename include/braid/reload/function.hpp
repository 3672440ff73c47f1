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

/// A function that the host wants from a module, by name and signature. The modules object writes
/// `target`.
struct import {
    import(module& of, const char* wanted, const char* signature_text, const char* mangled_name,
           void (*instead)());
    ~import();
    import(const import&) = delete;
    import& operator=(const import&) = delete;

    /// Reports that a call has thrown an exception, which the caller receives.
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

/// Calls `name` of a module, or `stub` while no valid code is loaded. The host refuses a module as
/// a whole if it lacks this export or exports it with another signature. If the loaded code lacks
/// it when this object is made, the stub runs and the next boundary reports that.
///
/// Any thread may create and destroy the object; both take a lock. Any thread may call it; a call
/// costs one load and one indirect call. If code that has just been reloaded throws an exception,
/// the caller receives it, and the next boundary goes back to the previous code
/// (modules::roll_back()). `name` must outlive this object. Destroy this object before the modules
/// object.
template <class R, class... Args>
class function<R(Args...)> {
public:
    function(module& of, const char* name, R (*stub)(Args...))
        : import_(of, name, detail::spelled<R(Args...)>(), mangled(),
                  reinterpret_cast<void (*)()>(stub)) {}

    R operator()(Args... args) const {
        // acquire: pairs with the releases in modules_state::swap(), modules_state::go_back() and
        // the constructor of import. A thread that sees the new code sees what its static
        // constructors wrote.
        const auto now = import_.target.load(std::memory_order_acquire);
        try {
            return reinterpret_cast<R (*)(Args...)>(now)(std::forward<Args>(args)...);
        } catch (...) {
            import_.has_thrown();
            throw;
        }
    }
    /// Returns false if a call runs the stub. Any thread may call it.
    bool loaded() const {
        // relaxed: the result only says what was loaded; no data is read through it.
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
