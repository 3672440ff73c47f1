#pragma once
// What a graph holds: its nodes as they were added, and the plan that runs follow.

#include "base/accounted_memory.hpp"
#include "core/runtime.hpp"

#include <compare>
#include <cstring>
#include <mutex>
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
    void remove_last() { --size_; }
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

/// A group is two: its members come after its begin and before its end, which follows it at once.
enum class node_kind : std::uint8_t { work, group_begin, group_end, serial_begin };

/// As it was added. Its callable lies in the storage of its slot, which the node keeps.
struct graph_record {
    closure_fn call;  // null: empty, or erased
    std::uint32_t slot;
    std::uint32_t group;  // or no_index
    std::uint16_t flags;
    std::uint8_t level;
    node_kind kind;
    bool erased;

    bool is_group() const {
        return kind == node_kind::group_begin || kind == node_kind::serial_begin;
    }
};

struct graph_edge {
    std::uint32_t from, to;
};

/// In runs in which the condition returned another value, `to` is left out.
struct graph_choice {
    std::uint32_t condition, to, value;
    friend auto operator<=>(const graph_choice&, const graph_choice&) = default;
};

struct graph_state;

/// The node runs the graph.
struct graph_inner {
    std::uint32_t node;
    const graph_state* graph;
};

/// Of a node that is left out: a condition chose otherwise. (Nodes have no shared closure.)
inline constexpr std::uint16_t flag_left_out = flag_shared;

/// What a run reads of a node.
struct graph_plan {
    closure_fn call;
    detail::slot* slot;
    std::uint32_t index;              // of the slot
    std::uint32_t waits_for;          // predecessors
    std::uint32_t first, successors;  // in graph_state::successors
};

/// Of the last measured run. Written by whoever runs the node, and by whoever ends it.
struct graph_stamp {
    std::int64_t ready, started, ended;  // of the policy's clock; started 0: it did not run
    std::int64_t average;                // ns
    std::uint32_t seat;
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
          choices(owner.memory),
          inner(owner.memory),
          all_edges(owner.memory),
          plan(owner.memory),
          successors(owner.memory),
          order(owner.memory),
          stamps(owner.memory) {}

    /// Edges to a node arrive at its entry and leave from its exit; a group's are two.
    std::uint32_t exit(std::uint32_t node) const {
        return records[node].is_group() ? node + 1 : node;
    }
    const char* name_of(std::uint32_t node) const {
        const char* own = rt.slots[records[node].slot].name;
        return own != nullptr ? own : "";
    }
    /// This graph, or one that it runs, is `other`.
    bool contains(const graph_state* other) const;

    /// Makes the plan of records and edges. False, and reported: a cycle, or no memory.
    bool sort();
    /// The user's edges, and those that groups stand for.
    bool collect_edges();
    bool add_members();
    bool count_edges(hooked_array<std::uint32_t>& left);
    /// A cycle among the nodes that still wait for somebody, in words.
    void name_cycle(const hooked_array<std::uint32_t>& waits_for, char* text,
                    std::size_t size) const;

    runtime& rt;
    const char* name;
    hooked_array<graph_record> records;
    hooked_array<graph_edge> edges;
    hooked_array<graph_choice> choices;  // sorted with the plan
    hooked_array<graph_inner> inner;
    bool edited = false;
    bool measured = false;
    std::mutex beginning;  // of runs: graphs that run this one may do so at once
    task_id last;          // the run that was begun last

    // The plan. Changed between runs only.
    hooked_array<graph_edge> all_edges;
    hooked_array<graph_plan> plan;  // by node
    hooked_array<graph_successor> successors;
    hooked_array<std::uint32_t> order;  // each node after its predecessors, so roots come first
    std::size_t roots = 0;
    std::uint32_t sinks = 0;  // nodes without successors
    std::size_t live = 0;     // nodes that are not erased, now; groups are two
    std::size_t groups = 0;

    hooked_array<graph_stamp> stamps;  // by node, if measured
    std::int64_t began = 0;            // the last measured run
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
    void start_clock() const;
    /// Returns the time.
    std::int64_t stop_clock(const graph_plan& plan) const;
    bool left_out(const graph_plan& plan) const;
    void run_nodes(worker& w, std::uint32_t run, const graph_plan* plan, bool more) const;
    const graph_plan* next_node(worker& w, task_id run) const;
    void cancel(worker& w, std::uint32_t run, const graph_plan& plan, task_id id) const;
    bool call(worker& w, running_task& body, const graph_plan& plan) const;
    void end_node(worker& w, const graph_plan& plan, task_id id, const graph_plan** next) const;
};

}  // namespace detail
BRAID_NAMESPACE_END
