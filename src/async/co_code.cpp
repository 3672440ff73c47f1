// What code a coroutine holds that waits.
#include "braid/async/co.hpp"
#include "braid/base/assert.hpp"
#include "braid/core/code_holders.hpp"
#include "core/extension.hpp"

#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

/// A frame begins with the functions that resume and destroy it, in g++, clang and MSVC alike.
struct frame_functions {
    std::uintptr_t resume, destroy;  // resume is 0 where it has returned
};

frame_functions functions_of(std::coroutine_handle<> frame) {
    frame_functions f;
    std::memcpy(&f, frame.address(), sizeof f);
    return f;
}

co_promise_base& promise_of(std::coroutine_handle<> frame) {
    return std::coroutine_handle<co_promise_base>::from_address(frame.address()).promise();
}

}  // namespace

void report_second_await(co_loop& loop) {
    const runtime& rt = runtime_of(*loop.context);
    BRAID_EXPECT(core::misuse(rt), false,
                 "a coroutine runs once: it was awaited or spawned before");
}

bool show_frames(const resumable_body& body, code_search& to, held_code what) {
    const auto& loop = static_cast<const co_loop&>(body);
    for (std::coroutine_handle<> frame = loop.current; frame;
         frame = promise_of(frame).awaited_by) {
        const frame_functions f = functions_of(frame);
        for (const std::uintptr_t address : {f.resume, f.destroy}) {
            what.address = address;
            if (!to.where().has(address)) continue;
            to.report(what);
            return true;
        }
    }
    return false;
}

}  // namespace detail
BRAID_NAMESPACE_END
