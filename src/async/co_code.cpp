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

void report_empty_await(co_loop& loop) {
    runtime& rt = runtime_of(*loop.context);
    // No misuse: one without memory is empty, too.
    core::log(rt, log_level::warning,
              "%s: task '%s' awaits an empty coroutine: it was moved elsewhere, or there was no "
              "memory for "
              "its frame",
              rt.options.name, this_task::name());
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
