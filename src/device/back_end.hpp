#pragma once
// In what processors differ. Everything else, order, memory, failures and accounts, is
// processor_state's.

#include "device/record.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

BRAID_NAMESPACE_BEGIN
namespace device::detail {

inline bool have_a_byte_in_common(std::span<const std::byte> a, std::span<const std::byte> b) {
    const auto at = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p); };
    return at(a.data()) < at(b.data()) + b.size() && at(b.data()) < at(a.data()) + a.size();
}

class BRAID_API back_end {
public:
    virtual ~back_end() = default;

    virtual const char* kind() const = 0;
    /// Once, before the first start.
    virtual void open() {}
    /// Once, when nobody submits any more; without the lock. Ends what is in flight.
    virtual void close() {}
    /// False: the step can never run there, for what is written to `why`. With the lock.
    virtual bool accepts(const step& s, std::span<char> why) const {
        static_cast<void>(s);
        static_cast<void>(why);
        return true;
    }
    /// One thread at a time, without the lock. Ends by processor_state::ended(), perhaps at once.
    /// False: no memory for it there.
    virtual bool start(record& r) = 0;
    /// start() has collected some, and sends them with flush(). With the lock.
    virtual bool has_collected() const { return false; }
    /// Nothing more starts now. As start(): one thread at a time, without the lock.
    virtual void flush() {}
    /// When serve() is wanted. INT64_MAX: not. With the lock.
    virtual std::int64_t next_due() const { return INT64_MAX; }
    /// Without the lock, on the source thread; or on any, if there is none, with INT64_MAX.
    virtual void serve(std::int64_t now) { static_cast<void>(now); }
    /// The processor is lost: each that it has not ended yet ends as lost. Without the lock.
    virtual void give_up() {}
    /// Nobody wants this one any more, which is in flight: it may end as cancelled, not in this
    /// call but from serve() on. With the lock.
    virtual void hint(record& r) { static_cast<void>(r); }
    /// Something has started that may never end. With the lock.
    virtual bool is_busy() const { return false; }
    /// Largest error of record::begun and record::finished, in ns. 0: it has written none. With
    /// the lock.
    virtual std::int64_t clock_error() const { return 0; }
    /// The groups of one have run on the cores. With the lock.
    virtual void touch_up(record& r) { static_cast<void>(r); }
    /// A thread of its own runs a kernel, or may begin with one; see code_holder::runs_code().
    virtual bool runs_code() const { return false; }

    /// Buffers lie in memory of its own. One for which there is none lies on the cores, and each
    /// start that names it takes memory for a copy, or is refused.
    virtual bool has_memory() const { return false; }
    /// A child of fork() has a copy of that memory, as of the program's.
    virtual bool child_has_buffers() const { return true; }
    /// Memory of a buffer, filled with 0. Null: there is none. Without the lock.
    virtual void* allocate_buffer(const buffer_options& what);
    /// Nothing uses it any more. With the lock.
    virtual void free_buffer(void* memory, std::size_t bytes);
    /// Memory of the program is a buffer from now on. False: what was given up may still write
    /// there. Without the lock.
    virtual bool import_memory(std::span<std::byte> memory) {
        static_cast<void>(memory);
        return true;
    }
    /// Nothing uses it any more. With the lock; also of memory that was not imported.
    virtual void forget_memory(std::span<std::byte> memory) { static_cast<void>(memory); }

    virtual std::size_t size() const = 0;  // of the object, for who releases it

    /// Before the first start.
    void serve_for(processor_state& s, braid::detail::runtime& rt) {
        of_ = &s;
        rt_ = &rt;
    }

protected:
    processor_state& of() const { return *of_; }
    /// Also in the destructor, when of() is no more.
    braid::detail::runtime& runtime() const { return *rt_; }
    /// Memory of the program stays until let_go(). False: the task has failed already and may be
    /// complete, so that the memory may be gone. With the lock.
    bool hold_open(const record& r) const;
    void let_go(task_id task) const;

private:
    processor_state* of_ = nullptr;
    braid::detail::runtime* rt_ = nullptr;
};

}  // namespace device::detail
BRAID_NAMESPACE_END
