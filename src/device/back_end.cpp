// What back ends share, those in other libraries included.
#include "base/platform/platform.hpp"
#include "device/outside_back_end.hpp"
#include "device/processor_state.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

namespace {
constexpr std::size_t buffer_alignment = 64, alignment = alignof(std::max_align_t);
}

// ---- buffers, and memory of the program --------------------------------------------------------

/// Filled without the lock, as that takes as long as it is large.
void* back_end::allocate_buffer(const buffer_options& what) {
    void* const memory =
        core::memory(runtime()).allocate(what.bytes, buffer_alignment, memory_tag::device);
    if (memory != nullptr) std::memset(memory, 0, what.bytes);
    return memory;
}

void back_end::free_buffer(void* memory, std::size_t bytes) {
    core::memory(runtime()).release(memory, bytes, buffer_alignment, memory_tag::device);
}

bool back_end::hold_open(const record& r) const {
    return r.how == ending::open && core::add_share(runtime(), r.task);
}

void back_end::let_go(task_id task) const {
    const core::seat_lease seat(runtime(), nullptr);
    core::end_share(runtime(), *seat, task);
}

// ---- from another library ----------------------------------------------------------------------

struct outside_back_end::thread {
    core::own_thread own;
    braid::detail::runtime& rt;
    const char* name;
    void (*run)(void* self);
    void* self;

    void work() const {
        platform::set_float_control(core::float_control(rt));
        const thread_callbacks& callbacks = core::options(rt).threads;
        if (callbacks.started != nullptr) callbacks.started(callbacks.user, name);
        run(self);
        if (callbacks.stopping != nullptr) callbacks.stopping(callbacks.user, name);
    }
};

outside_back_end::~outside_back_end() = default;

void* outside_back_end::room(scheduler& s, std::size_t bytes) {
    return core::memory(s.internals()).allocate(bytes, alignment, memory_tag::device);
}

void* outside_back_end::allocate(std::size_t bytes) const {
    return core::memory(runtime()).allocate(bytes, alignment, memory_tag::device);
}

void outside_back_end::release(void* memory, std::size_t bytes) const {
    core::memory(runtime()).release(memory, bytes, alignment, memory_tag::device);
}

void outside_back_end::log(log_level level, const char* format, ...) const {
    char text[400];
    va_list values;
    va_start(values, format);
    std::vsnprintf(text, sizeof text, format, values);
    va_end(values);
    core::log(runtime(), level, "%s", text);
}

braid::detail::mutex& outside_back_end::lock() const { return of().lock(); }
const char* outside_back_end::name() const { return of().name(); }
bool outside_back_end::under_chooser() const { return core::under_chooser(runtime()); }
void outside_back_end::ended(record& r, attempt how) const { of().ended(r, how); }
void outside_back_end::ended(std::span<record* const> all, attempt how) const {
    of().ended(all, how);
}
void outside_back_end::refused(record& r) const { of().refused(r); }
void outside_back_end::lost() const { of().lose(); }

void outside_back_end::move_to_cores(record& r) const {
    r.native = false;
    of().run_on_cores(r);
}

bool outside_back_end::start_thread(void (*run)(void* self), void* self) {
    void* const memory = allocate(sizeof(thread));
    if (memory == nullptr) return false;
    thread_ = ::new (memory) thread{{}, runtime(), name(), run, self};
    const platform::thread_request how{
        .name = name(),
        .entry = [](void* t) { static_cast<const thread*>(t)->work(); },
        .argument = thread_};
    if (thread_->own.start(runtime(), how)) return true;
    join_thread();
    return false;
}

void outside_back_end::join_thread() {
    if (thread_ == nullptr) return;
    thread_->own.join();
    thread_->~thread();
    release(std::exchange(thread_, nullptr), sizeof(thread));
}

}  // namespace device::detail
BRAID_NAMESPACE_END
