#pragma once
// A job_list_manager registers job functions, and allocates and frees job lists.
//
//   braid::job_list_manager lists(scheduler);
//   lists.register_job(&skin_model, "skin");
//   braid::job_list* skin = lists.allocate({.name = "skin", .max_jobs = 500});

#include "braid/core/scheduler.hpp"
#include "braid/job_list/job_list.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {
struct job_manager_state;
}

/// Any thread may register functions, and allocate, free and look up lists. The manager must be
/// destroyed before the scheduler. On a machine with several cores, the first manager of a process
/// reads the layout of the machine, which takes some ms.
class job_list_manager {
public:
    static constexpr unsigned max_lists = 32;
    static constexpr unsigned max_functions = 256;

    BRAID_API explicit job_list_manager(scheduler& s);
    /// Frees all lists.
    BRAID_API ~job_list_manager();
    job_list_manager(const job_list_manager&) = delete;
    job_list_manager& operator=(const job_list_manager&) = delete;

    /// Registers a job function. A function must be registered before it is added to a list. `name`
    /// is for messages and statistics, and must outlive the manager. If the function is already
    /// registered, it keeps its first name. If `function` is null, if `name` is null or empty, or
    /// if max_functions functions are already registered, register_job() calls the assertion
    /// handler and returns false.
    BRAID_API bool register_job(job_function function, const char* name);
    /// Returns the name of `function`, or null if the function is not registered.
    BRAID_API const char* name_of(job_function function) const;

    /// Allocates a list with all memory that the list will ever need: 16 bytes per job, 12 bytes
    /// per sync point, and 80 bytes for each of 256 seats. If max_lists lists are already
    /// allocated, the id is taken, a number is out of range, or there is no memory, allocate()
    /// calls the scheduler's handlers and returns null.
    BRAID_API job_list* allocate(const job_list_options& options = {});
    /// Frees a list. If the list is submitted, free() first waits for the submission. If the
    /// submission fails, free() passes the failure to the unobserved-exception handler. Jobs that
    /// were not submitted are dropped. If `list` does not belong to this manager, or if a job of
    /// the list calls free(), the assertion handler is called and the list is not freed. Has no
    /// effect if `list` is null.
    BRAID_API void free(job_list* list);

    BRAID_API unsigned list_count() const;
    unsigned free_count() const { return max_lists - list_count(); }
    /// Returns the allocated list at `index`, in the order of ids, or null if `index` is not below
    /// list_count().
    BRAID_API job_list* list(unsigned index) const;
    /// Returns the list with the id `id`, or null if no list has this id.
    BRAID_API job_list* find(std::uint32_t id) const;

    /// Waits for all submitted lists of the manager. The calling thread must own all these lists.
    /// If lists have failed, throws the failure of the one with the lowest id. The other failures
    /// go to the unobserved-exception handler.
    BRAID_API void wait_all();

private:
    scheduler& scheduler_;
    detail::runtime& rt_;
    detail::job_manager_state* state_;
};

BRAID_NAMESPACE_END
