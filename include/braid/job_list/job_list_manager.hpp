#pragma once
// The job lists of a program: registers job functions, allocates and frees lists.
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

/// Any thread may register, allocate, free and look up. It must end before the scheduler. The first
/// one on a machine with several cores reads the layout of the machine: some ms, once in a process.
class job_list_manager {
public:
    static constexpr unsigned max_lists = 32;
    static constexpr unsigned max_functions = 256;

    BRAID_API explicit job_list_manager(scheduler& s);
    /// Frees all lists.
    BRAID_API ~job_list_manager();
    job_list_manager(const job_list_manager&) = delete;
    job_list_manager& operator=(const job_list_manager&) = delete;

    /// Before the function is added to a list. `name`, for messages and statistics, outlives the
    /// manager. Again with the same function: the first name stays. False, and reported: no
    /// function, no name, or max_functions are registered.
    BRAID_API bool register_job(job_function function, const char* name);
    /// Null: not registered.
    BRAID_API const char* name_of(job_function function) const;

    /// Takes all memory that the list will ever need: 16 bytes a job, 12 a sync point, 80 for each
    /// of 256 seats. Null: refused (max_lists are allocated, the id is taken, no memory); the
    /// handlers know.
    BRAID_API job_list* allocate(const job_list_options& options = {});
    /// Waits for what is submitted; a failure goes to the unobserved-exception handler. Jobs that
    /// were not submitted are dropped. The list is gone then, except when it is refused and
    /// reported: not a list of this manager, or called by one of its jobs. Null: nothing.
    BRAID_API void free(job_list* list);

    BRAID_API unsigned list_count() const;
    unsigned free_count() const { return max_lists - list_count(); }
    /// Lists that are allocated, in the order of their ids: index below list_count(). Null beyond.
    BRAID_API job_list* list(unsigned index) const;
    /// Null: none has that id.
    BRAID_API job_list* find(std::uint32_t id) const;

    /// wait() for every list that is submitted, by a thread that owns them all. Throws the failure
    /// of the first in the order of list(); others go to the unobserved-exception handler.
    BRAID_API void wait_all();

private:
    scheduler& scheduler_;
    detail::runtime& rt_;
    detail::job_manager_state* state_;
};

BRAID_NAMESPACE_END
