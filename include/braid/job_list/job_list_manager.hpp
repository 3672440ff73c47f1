#pragma once
// Manages the job lists of a program: registers job functions, allocates and frees lists.
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

/// Any thread may register, allocate, free and look up. The manager must be destroyed before the
/// scheduler. On a machine with several cores, the first manager of a process reads the layout of
/// the machine, which takes some ms.
class job_list_manager {
public:
    static constexpr unsigned max_lists = 32;
    static constexpr unsigned max_functions = 256;

    BRAID_API explicit job_list_manager(scheduler& s);
    /// Frees all lists.
    BRAID_API ~job_list_manager();
    job_list_manager(const job_list_manager&) = delete;
    job_list_manager& operator=(const job_list_manager&) = delete;

    /// Registers a job function. Call it before the function is added to a list. `name` is for
    /// messages and statistics, and must outlive the manager. If the function is registered
    /// already, the first name stays. Returns false, and reports it, if there is no function, no
    /// name, or max_functions are registered.
    BRAID_API bool register_job(job_function function, const char* name);
    /// Returns the name of `function`, or null if it is not registered.
    BRAID_API const char* name_of(job_function function) const;

    /// Allocates a list, with all memory that it will ever need: 16 bytes a job, 12 a sync point,
    /// 80 for each of 256 seats. Returns null if that is refused (max_lists are allocated, the id
    /// is taken, a number is out of range, no memory). The handlers get the reason.
    BRAID_API job_list* allocate(const job_list_options& options = {});
    /// Waits for what is submitted, and frees the list. A failure goes to the unobserved-exception
    /// handler, and jobs that were not submitted are dropped. The call is refused and reported, and
    /// the list stays, if `list` is not a list of this manager or if one of its own jobs calls
    /// free(). Does nothing for null.
    BRAID_API void free(job_list* list);

    BRAID_API unsigned list_count() const;
    unsigned free_count() const { return max_lists - list_count(); }
    /// Returns an allocated list, in the order of ids. `index` is below list_count(); the result is
    /// null beyond.
    BRAID_API job_list* list(unsigned index) const;
    /// Returns the list with the id `id`, or null if there is none.
    BRAID_API job_list* find(std::uint32_t id) const;

    /// Calls wait() for every list that is submitted. The calling thread must own them all. Throws
    /// the failure of the first in the order of list(); the others go to the unobserved-exception
    /// handler.
    BRAID_API void wait_all();

private:
    scheduler& scheduler_;
    detail::runtime& rt_;
    detail::job_manager_state* state_;
};

BRAID_NAMESPACE_END
