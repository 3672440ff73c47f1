#pragma once
// A back end in a library of its own beside Braid: what it needs of its processor and of the core,
// exported. It includes neither processor_state.hpp nor the core's private headers.

#include "base/printf_format.hpp"
#include "braid/base/handlers.hpp"
#include "braid/base/mutex.hpp"
#include "braid/core/scheduler.hpp"
#include "device/back_end.hpp"

#include <cstddef>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

class BRAID_API outside_back_end : public back_end {
public:
    ~outside_back_end() override;

    /// In the scheduler's memory, for the back end itself: processor::start() takes it over.
    static void* room(scheduler& s, std::size_t bytes);
    /// By the memory hooks (memory_tag::device), at a multiple of 16. Null: there is none.
    void* allocate(std::size_t bytes) const;
    void release(void* memory, std::size_t bytes) const;
    BRAID_PRINTF(3, 4) void log(log_level level, const char* format, ...) const;

protected:
    braid::detail::mutex& lock() const;
    const char* name() const;
    /// Every decision is a chooser's, so that no thread of the back end may take part.
    bool under_chooser() const;

    // These forward to processor_state.
    void ended(record& r, attempt how) const;
    void ended(std::span<record* const> all, attempt how) const;
    void refused(record& r) const;
    void lost() const;
    /// In place of the processor.
    void move_to_cores(record& r) const;
    /// Calls copy() while memory of the program stays. False: it may be gone.
    template <class Copy>
    bool while_open(const record& r, Copy&& copy) const {
        const task_id task = r.task;
        {
            const braid::detail::locked l(lock());
            if (!hold_open(r)) return false;
        }
        copy();
        let_go(task);
        return true;
    }

    /// One thread of its own, with the callbacks that the scheduler's have. False: it was refused.
    bool start_thread(void (*run)(void* self), void* self);
    /// Nothing if there is none.
    void join_thread();

private:
    struct thread;
    thread* thread_ = nullptr;
};

}  // namespace device::detail
BRAID_NAMESPACE_END
