#include "reload/platform/linux/stack_places.hpp"

#include <ucontext.h>
#include <unwind.h>

BRAID_NAMESPACE_BEGIN
namespace reload::platform {

stack_places::stack_places(const void* context) {
    const mcontext_t& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
    at_ = static_cast<std::uintptr_t>(machine.gregs[REG_RIP]);
    const auto stack = static_cast<std::uintptr_t>(machine.gregs[REG_RSP]);
    const auto touched = static_cast<std::uintptr_t>(machine.gregs[REG_CR2]);
    // Elsewhere the stack may be what is at fault.
    if (at_ == 0 || at_ == touched) from_ = *reinterpret_cast<const std::uintptr_t*>(stack);
#elif defined(__aarch64__)
    at_ = machine.pc;
    from_ = machine.regs[30];
#else
    static_cast<void>(machine);
#endif
    add(at_);
    // Where no code is, the stack cannot be walked.
    if (at_ == 0 && from_ != 0) add(from_ - 1);
}

void stack_places::add_callers() {
    _Unwind_Backtrace(
        [](_Unwind_Context* frame, void* to) {
            // A return address may be that of the next line.
            int before_it = 0;
            const std::uintptr_t address = _Unwind_GetIPInfo(frame, &before_it);
            static_cast<stack_places*>(to)->add(address - (before_it != 0 ? 0 : 1));
            return _URC_NO_REASON;
        },
        this);
}

}  // namespace reload::platform
BRAID_NAMESPACE_END
