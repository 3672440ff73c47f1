#pragma once
// Calls a function of a module through a pointer. Each reload changes the pointer to the new code.

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

/// A function that the host imports from a module by name and signature. A reload of the module
/// stores the address of the new code in `target`.
struct import {
    import(module& of, const char* wanted, const char* signature_text, const char* mangled_name,
           void (*instead)());
    ~import();
    import(const import&) = delete;
    import& operator=(const import&) = delete;

    /// Reports that a call of the function has thrown an exception. The next boundary may then go
    /// back to the previous code.
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

/// Calls the function `name` of a module, or `stub` while no valid code of the module is loaded.
/// The host refuses the whole build of a module that does not export `name`, or exports it with
/// another signature. If the module is already loaded and lacks the function when this object is
/// made, the stub runs and the next boundary reports the missing function.
///
/// Any thread may create and destroy the object. Both operations take a lock. Any thread may call
/// the object. A call costs one load and one indirect call. If reloaded code throws an exception
/// while the program can go back (see modules::roll_back()), the caller receives the exception, and
/// the next boundary goes back to the previous code. `name` must outlive this object. Destroy this
/// object before the modules object.
template <class R, class... Args>
class function<R(Args...)> {
public:
    function(module& of, const char* name, R (*stub)(Args...))
        : import_(of, name, detail::spelled<R(Args...)>(), mangled(),
                  reinterpret_cast<void (*)()>(stub)) {}

    R operator()(Args... args) const {
        // acquire: pairs with the releases in modules_state::swap(), modules_state::go_back() and
        // the constructor of import, so that a thread that calls the new code sees everything that
        // the static constructors of the new code wrote.
        const auto now = import_.target.load(std::memory_order_acquire);
        try {
            return reinterpret_cast<R (*)(Args...)>(now)(std::forward<Args>(args)...);
        } catch (...) {
            import_.has_thrown();
            throw;
        }
    }
    /// Returns false if a call would run the stub. Any thread may call loaded().
    bool loaded() const {
        // relaxed: the caller only receives a bool, and no data is read through the pointer.
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
