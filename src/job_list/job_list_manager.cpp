// Allocating, finding and freeing lists.
#include "braid/job_list/job_list_manager.hpp"

#include "base/topology.hpp"
#include "core/extension.hpp"
#include "job_list/job_list_state.hpp"

#include <algorithm>
#include <bit>
#include <memory>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t to) {
    return (bytes + to - 1) / to * to;
}

/// Where the parts of a list lie in its one block of memory.
struct list_layout {
    std::size_t points, pending, jobs, handle, bytes;
    static constexpr std::size_t alignment = 64;

    explicit list_layout(const job_list_options& o) {
        points = round_up(sizeof(job_list_state), 64);
        pending = points + sizeof(sync_point) * o.max_syncs;
        jobs = round_up(pending + sizeof(job_feed::counter) * (o.max_syncs + std::size_t{1}), 64);
        handle = round_up(jobs + sizeof(job) * o.max_jobs, 64);
        bytes = handle + sizeof(job_list);
    }
};
static_assert(alignof(job_list_state) <= list_layout::alignment);
static_assert(sizeof(job) == 16);

}  // namespace

job_list_state::job_list_state(job_manager_state& owner, const job_list_options& o, unsigned at)
    : manager(owner), rt(owner.rt), options(o), place(at) {}

void job_list_state::show_jobs(const job_list& list, code_search& to) {
    const job_list_state& s = list.state_;
    const bool over = list.is_submitted() && !core::is_open(s.rt, list.submission());
    for (std::uint32_t i = 0; !over && i < list.size_; ++i) {
        to.look_at(code_use::job, s.options.name, s.jobs[i].function);
        to.look_at(code_use::job, s.options.name, s.jobs[i].data);
    }
}

std::uint32_t count_cores(const topology* machine, std::uint32_t threads) {
    if (machine == nullptr) return threads;
    std::uint32_t cores = 0;
    for (const processor_place* p = machine->processors; p != std::end(machine->processors); ++p) {
        const auto shares = [&](const processor_place& q) { return q.known && q.core == p->core; };
        cores += p->known && std::none_of(machine->processors, p, shares);
    }
    return cores == 0 ? threads : std::min(cores, threads);
}

// With one hardware thread there is nothing to tell apart.
job_manager_state::job_manager_state(runtime& owner)
    : code_holder(owner),
      rt(owner),
      cores(core::hardware_threads(owner) > 1
                ? count_cores(machine_topology(), core::hardware_threads(owner))
                : 1) {}

/// A function that is registered, and in no list, is never called: it has a name.
void job_manager_state::show_code(code_search& to) const {
    const locked lock(mutex);
    for (unsigned i = 0; i < count; ++i) job_list_state::show_jobs(*lists[i], to);
}

void job_manager_state::forget_code(const code_range& code) {
    const locked lock(mutex);
    names.forget(code);
}

bool job_manager_state::normal_waits() const {
    if (normal_runners.load(relaxed) != 0) return true;
    for (std::uint32_t left = normal_submitted.load(relaxed); left != 0; left &= left - 1) {
        const task_id id{submissions[std::countr_zero(left)].load(relaxed)};
        if (core::waits_for_thread(rt, id)) return true;
    }
    return false;
}

}  // namespace detail

namespace core = detail::core;
using detail::job_list_state;
using detail::job_manager_state;

job_list_manager::job_list_manager(scheduler& s)
    : scheduler_(s), rt_(s.internals()), state_(nullptr) {
    void* bytes = core::memory(rt_).allocate(sizeof(job_manager_state), alignof(job_manager_state),
                                             memory_tag::job_list);
    if (bytes != nullptr) state_ = ::new (bytes) job_manager_state(rt_);
}

job_list_manager::~job_list_manager() {
    if (state_ == nullptr) return;
    while (job_list* first = list(0)) free(first);
    state_->~job_manager_state();
    core::memory(rt_).release(state_, sizeof(job_manager_state), alignof(job_manager_state),
                              memory_tag::job_list);
}

bool job_list_manager::register_job(job_function function, const char* name) {
    core::point(rt_);
    const assertion_handler& misuse = core::misuse(rt_);
    if (state_ == nullptr || !BRAID_EXPECT(misuse, function != nullptr, "give a function") ||
        !BRAID_EXPECT(misuse, name != nullptr && *name != '\0', "give the job a name")) {
        return false;
    }
    const detail::locked lock(state_->mutex);
    return BRAID_EXPECT(misuse, state_->names.add(function, name),
                        "at most 256 job functions; let several share one that looks at its data");
}

const char* job_list_manager::name_of(job_function function) const {
    core::point(rt_);
    return state_ != nullptr ? state_->names.name_of(function) : nullptr;
}

job_list* job_list_manager::allocate(const job_list_options& options) {
    core::point(rt_);
    const assertion_handler& misuse = core::misuse(rt_);
    constexpr std::uint32_t most = std::uint32_t{1} << 30;
    if (state_ == nullptr ||
        !BRAID_EXPECT(misuse, options.max_jobs >= 1 && options.max_jobs <= most,
                      "max_jobs is 1 to 2^30") ||
        !BRAID_EXPECT(misuse, options.max_syncs <= most, "max_syncs is 2^30 at most")) {
        return nullptr;
    }
    job_manager_state& all = *state_;
    const detail::locked lock(all.mutex);
    if (!BRAID_EXPECT(misuse, all.count < max_lists,
                      "at most 32 job lists; free one, or let jobs of two share a list")) {
        return nullptr;
    }
    job_list_options o = options;
    if (o.name == nullptr) o.name = "job list";
    if (o.id == job_list_options::automatic) o.id = 0;
    // By id: where the list goes.
    unsigned at = 0;
    for (; at != all.count && all.lists[at]->id() <= o.id; ++at) {
        if (all.lists[at]->id() != o.id) continue;
        if (!BRAID_EXPECT(misuse, options.id == job_list_options::automatic,
                          "another job list has this id; give each its own")) {
            return nullptr;
        }
        ++o.id;
    }
    const detail::list_layout where(o);
    auto* bytes = static_cast<std::byte*>(
        core::memory(rt_).allocate(where.bytes, where.alignment, memory_tag::job_list));
    if (bytes == nullptr) return nullptr;
    const auto place = static_cast<unsigned>(std::countr_one(all.places));
    auto* s = ::new (bytes) job_list_state(all, o, place);
    s->points = reinterpret_cast<detail::sync_point*>(bytes + where.points);
    s->pending = reinterpret_cast<detail::job_feed::counter*>(bytes + where.pending);
    auto* jobs = reinterpret_cast<job*>(bytes + where.jobs);
    std::uninitialized_default_construct_n(s->points, o.max_syncs);
    std::uninitialized_default_construct_n(s->pending, o.max_syncs + std::size_t{1});
    std::uninitialized_default_construct_n(jobs, o.max_jobs);
    s->jobs = jobs;
    auto* list = ::new (bytes + where.handle) job_list(*s, jobs);
    std::copy_backward(all.lists + at, all.lists + all.count, all.lists + all.count + 1);
    all.lists[at] = list;
    ++all.count;
    all.places |= std::uint32_t{1} << place;
    return list;
}

void job_list_manager::free(job_list* list) {
    if (list == nullptr || state_ == nullptr) return;
    core::point(rt_);
    job_manager_state& all = *state_;
    const auto find_it = [&] { return std::find(all.lists, all.lists + all.count, list); };
    {
        const detail::locked lock(all.mutex);
        if (!BRAID_EXPECT(core::misuse(rt_), find_it() != all.lists + all.count,
                          "free() takes lists of this manager, each once")) {
            return;
        }
    }
    job_list_state& s = list->state_;
    {
        core::failure unseen(rt_);  // goes to the handler
        if (list->is_submitted() && !s.collect(*list, unseen)) return;
    }
    const detail::locked lock(all.mutex);
    all.places &= ~(std::uint32_t{1} << s.place);
    std::copy(find_it() + 1, all.lists + all.count, find_it());
    all.lists[--all.count] = nullptr;
    const detail::list_layout where(s.options);
    void* const bytes = &s;
    list->~job_list();
    s.~job_list_state();
    core::memory(rt_).release(bytes, where.bytes, where.alignment, memory_tag::job_list);
}

unsigned job_list_manager::list_count() const {
    core::point(rt_);
    if (state_ == nullptr) return 0;
    const detail::locked lock(state_->mutex);
    return state_->count;
}

job_list* job_list_manager::list(unsigned index) const {
    core::point(rt_);
    if (state_ == nullptr || index >= max_lists) return nullptr;
    const detail::locked lock(state_->mutex);
    return state_->lists[index];
}

job_list* job_list_manager::find(std::uint32_t id) const {
    core::point(rt_);
    if (state_ == nullptr) return nullptr;
    const detail::locked lock(state_->mutex);
    for (unsigned i = 0; i < state_->count; ++i) {
        if (state_->lists[i]->id() == id) return state_->lists[i];
    }
    return nullptr;
}

void job_list_manager::wait_all() {
    core::failure first(rt_);
    for (unsigned i = 0; job_list* next = list(i); ++i) {
        core::failure failure(rt_);  // goes to the handler, if it is not the first
        if (!next->is_submitted() || !next->state_.collect(*next, failure)) continue;
        if (!first) first = std::move(failure);
    }
    first.raise();
}

BRAID_NAMESPACE_END
