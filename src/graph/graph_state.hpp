#pragma once
// What a graph holds: its nodes as they were added, and the plan that runs follow.

#include "base/accounted_memory.hpp"
#include "core/runtime.hpp"

#include <cstring>
#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A vector whose memory goes through the user's hooks. Growing may fail; nothing is lost then.
template <class T>
class hooked_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit hooked_array(accounted_memory& memory) : memory_(memory) {}
    ~hooked_array() {
        memory_.release(data_, capacity_ * sizeof(T), alignof(T), memory_tag::graph);
    }
    hooked_array(const hooked_array&) = delete;
    hooked_array& operator=(const hooked_array&) = delete;

    bool push(const T& value) {
        if (size_ == capacity_ && !reserve(capacity_ == 0 ? 16 : capacity_ * 2)) return false;
        data_[size_++] = value;
        return true;
    }
    /// Of that size, all zero.
    bool reset(std::size_t size) {
        if (!reserve(size)) return false;
        size_ = size;
        if (size != 0) std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
        return true;
    }
    template <class Unwanted>
    void remove_if(Unwanted&& unwanted) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (!unwanted(data_[i])) data_[kept++] = data_[i];
        }
        size_ = kept;
    }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

private:
    bool reserve(std::size_t wanted) {
        if (wanted <= capacity_) return true;
        void* bytes = memory_.allocate(wanted * sizeof(T), alignof(T), memory_tag::graph);
        if (bytes == nullptr) return false;
        if (size_ != 0) std::memcpy(bytes, data_, size_ * sizeof(T));
        memory_.release(data_, capacity_ * sizeof(T), alignof(T), memory_tag::graph);
        data_ = static_cast<T*>(bytes);
        capacity_ = wanted;
        return true;
    }

    accounted_memory& memory_;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

/// As it was added. Its callable lies in the storage of its slot, which the node keeps.
struct graph_record {
    closure_fn call;  // null: empty, or erased
    std::uint32_t slot;
    std::uint16_t flags;
    std::uint8_t level;
    bool erased;
};

struct graph_edge {
    std::uint32_t from, to;
};

/// What a run reads of a node.
struct graph_plan {
    closure_fn call;
    detail::slot* slot;
    std::uint32_t index;              // of the slot
    std::uint32_t waits_for;          // predecessors
    std::uint32_t first, successors;  // in graph_state::successors
};

struct graph_successor {
    detail::slot* slot;
};

struct graph_state {
    graph_state(runtime& owner, const char* n)
        : rt(owner),
          name(n),
          records(owner.memory),
          edges(owner.memory),
          plan(owner.memory),
          successors(owner.memory),
          roots(owner.memory) {}

    /// Makes the plan of records and edges. False, and reported: a cycle, or no memory.
    bool sort();
    /// A cycle among the nodes that still wait for somebody, in words.
    void name_cycle(const hooked_array<std::uint32_t>& waits_for, char* text,
                    std::size_t size) const;

    runtime& rt;
    const char* name;
    hooked_array<graph_record> records;
    hooked_array<graph_edge> edges;
    bool edited = false;
    task_id last;  // the run that was begun last

    // The plan. Changed between runs only.
    hooked_array<graph_plan> plan;  // by node
    hooked_array<graph_successor> successors;
    hooked_array<std::uint32_t> roots;  // nodes
    std::uint32_t sinks = 0;            // nodes without successors
    std::size_t live = 0;               // nodes that are not erased, now
};

/// The run of a graph is a task; this is in its storage, until the last node has ended.
struct graph_run {
    graph_state* graph;
    /// Its body.
    static void begin(void* storage, task_context* context);
    /// own_way of the nodes.
    static void node(runtime& rt, worker& w, std::uint32_t index, own_step step);

private:
    void reset(worker& w, std::uint32_t run) const;
    void run_nodes(worker& w, std::uint32_t run, const graph_plan* plan, bool more) const;
    const graph_plan* next_node(worker& w, task_id run) const;
    void leave_out(worker& w, std::uint32_t run, const graph_plan& plan, task_id id) const;
    bool call(worker& w, running_task& body, const graph_plan& plan) const;
    void end_node(worker& w, const graph_plan& plan, task_id id, const graph_plan** next) const;
};

}  // namespace detail
BRAID_NAMESPACE_END
