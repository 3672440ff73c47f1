#pragma once
// Holds the ready tasks from which a chooser chooses. It is used only with a chooser. It has the
// ready tasks that any thread may run, in the order in which they became ready, and the tasks that
// the current decision offers. The chooser answers with an index among all of them, so they are in
// one list and not in the threads' queues. Only the thread for which the gate is open uses the
// list.

#include "base/accounted_memory.hpp"
#include "braid/core/decision.hpp"
#include "core/slots/id_test.hpp"

#include <cstdint>
#include <cstring>
#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// An array that grows and never shrinks. The first few values are stored in the object itself, so
/// there is always room for them, even without memory.
template <class T>
class growing_row {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit growing_row(accounted_memory& memory) : memory_(memory) {}
    ~growing_row() { give_back(); }
    growing_row(const growing_row&) = delete;
    growing_row& operator=(const growing_row&) = delete;

    /// Appends a value. Returns false if there is no memory for it; the out-of-memory handler was
    /// then called.
    bool add(const T& value) {
        if (size_ == room_ && !grow()) return false;
        at_[size_++] = value;
        return true;
    }
    void erase(std::size_t i) {
        std::memmove(at_ + i, at_ + i + 1, (size_ - i - 1) * sizeof(T));
        --size_;
    }
    void clear() { size_ = 0; }
    const T* data() const { return at_; }
    const T& operator[](std::size_t i) const { return at_[i]; }
    std::size_t size() const { return size_; }

private:
    bool grow() {
        void* const bytes =
            memory_.allocate(2 * room_ * sizeof(T), alignof(T), memory_tag::runtime);
        if (bytes == nullptr) return false;
        std::memcpy(bytes, at_, size_ * sizeof(T));
        give_back();
        at_ = static_cast<T*>(bytes);
        room_ *= 2;
        return true;
    }
    void give_back() {
        if (at_ != first_) {
            memory_.release(at_, room_ * sizeof(T), alignof(T), memory_tag::runtime);
        }
    }

    static constexpr std::size_t least = 64;
    accounted_memory& memory_;
    T first_[least]{};
    T* at_ = first_;
    std::size_t size_ = 0, room_ = least;
};

class ready_choices {
public:
    explicit ready_choices(accounted_memory& memory)
        : tasks_(memory), names_(memory), offered_(memory) {}

    struct task {
        std::uint64_t id, name;
        bool urgent;  // counted in ready_room::high_ready_
    };
    static constexpr task nothing{};

    bool any() const { return tasks_.size() != 0; }
    /// Appends a task. Returns false if there is no memory for it. The task must then be in another
    /// queue, and is offered at a later decision.
    bool add(const task& t) { return tasks_.add(t); }

    // ---- one decision
    void begin_offer() {
        names_.clear();
        offered_.clear();
    }
    /// Offers a task that is in another list than this one.
    void offer_other(std::uint64_t id, std::uint64_t name) { offer(id, name, SIZE_MAX); }
    void offer_wanted(id_test wanted) {
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (wanted(tasks_[i].id)) offer(tasks_[i].id, tasks_[i].name, i);
        }
    }
    const alternative* names() const { return names_.data(); }
    std::size_t offered() const { return names_.size(); }
    std::uint64_t id_at(std::size_t n) const { return offered_[n].id; }
    /// Removes and returns the task that was offered at index `n`. Returns `nothing` if the task is
    /// in another list.
    task take(std::size_t n) {
        const std::size_t i = offered_[n].position;
        if (i == SIZE_MAX) return nothing;
        const task taken = tasks_[i];
        tasks_.erase(i);
        return taken;
    }
    /// Removes and returns the task with that id, without a decision. Returns `nothing` if the task
    /// is not in this list.
    task take_task(std::uint64_t id) {
        for (std::size_t i = 0; i < tasks_.size(); ++i) {
            if (tasks_[i].id != id) continue;
            const task taken = tasks_[i];
            tasks_.erase(i);
            return taken;
        }
        return nothing;
    }

private:
    struct place {
        std::uint64_t id;
        std::size_t position;
    };
    /// Adds a task to the offer. A task for which there is no room is offered at a later decision.
    void offer(std::uint64_t id, std::uint64_t name, std::size_t at) {
        if (offered_.size() == names_.size() && !offered_.add({id, at})) return;
        if (!names_.add({name})) offered_.erase(offered_.size() - 1);
    }

    growing_row<task> tasks_;
    growing_row<alternative> names_;
    growing_row<place> offered_;
};

}  // namespace detail
BRAID_NAMESPACE_END
