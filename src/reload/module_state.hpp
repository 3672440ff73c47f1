#pragma once
// What the modules object holds, and who may touch it.

#include "braid/core/scheduler.hpp"
#include "braid/reload/function.hpp"
#include "braid/reload/modules.hpp"
#include "reload/check/check.hpp"
#include "reload/load/loader.hpp"
#include "reload/watch/lock_rules.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <thread>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Code in the process, or on its way there.
struct live_code {
    std::string hash;  // of the file's bytes
    checked_module file;
    loaded_module code;
    std::string remark;  // what the sentence about it adds
};

struct module_state {
    module_state(modules_state& all, module_options given)
        : owner(all), options(std::move(given)) {}

    /// Lets all calls go over; null: to the stubs.
    void point(const loaded_module* to) const;
    std::vector<wanted_function> wanted() const;

    modules_state& owner;
    const module_options options;

    // Under modules_state::mutex.
    std::vector<import*> imports;
    std::unique_ptr<live_code> current, ready;
    std::vector<std::string> refused;  // hashes of contents
    std::string last_said;             // a refusal that is not about a content
    std::size_t loads = 0, bytes = 0;
    bool dirty = true;
    bool locked = false;     // look again soon, although nothing may change
    bool unwatched = false;  // its folder cannot be watched yet

    // Under modules_state::checking.
    lock_rules lock;
    std::vector<std::byte> content;      // of `waiting`
    std::unique_ptr<live_code> waiting;  // good, but another module sees a type otherwise
    std::map<std::string, int> copies;   // by build-id
};

struct modules_state {
    modules_state(scheduler& s, modules_options given);
    ~modules_state();

    module& add(module_options given);
    outcome at_frame_boundary() noexcept;
    /// Checks whatever is dirty until nothing is. `all`: each file, whether it changed or not.
    void check(bool all) noexcept;

    // ---- checking.cpp: under `checking` -----------------------------------------------------
    void look(module_state& m);
    void read_and_check(module_state& m, lock_rules::verdict lock);
    void settle();
    std::string difference_with_others(const module_state& m, const live_code& code,
                                       bool with_waiting) const;
    std::unique_ptr<live_code> load_waiting(module_state& m);
    status copy(module_state& m, std::string& path);
    debug_info* host_types();
    bool is_known(module_state& m, const std::string& hash);
    /// Said at the next boundary. `hash` names the content, or is empty where it is not at fault.
    void refuse(module_state& m, const std::string& hash, const std::string& reason);
    std::int64_t now() const;

    // ---- modules.cpp ----------------------------------------------------------------------
    void swap(outcome& went);
    void drop_unfit();
    void watch();
    void watch_once();
    void start_check();
    void touched(const std::vector<std::string>& names, bool all);
    std::vector<module_state*> all_states();

    scheduler& tasks;
    const modules_options options;

    std::mutex mutex;
    std::vector<std::unique_ptr<module>> list;
    std::vector<std::string> notes;  // sentences without their points
    bool checking_task = false;      // one is on its way
    task_id last_task;

    /// True: something is ready, or a note. Read by each boundary.
    std::atomic<bool> news{false};
    std::atomic<bool> out_of_memory{false};
    std::atomic<bool> stopping{false};

    std::mutex checking;  // before `mutex`
    std::string folder;
    std::vector<std::byte> host_bytes;
    std::unique_ptr<debug_info> host;
    bool host_read = false;

    platform::folder_watch changes;
    std::int64_t tried_again_ns = 0;  // by the watcher only
    std::thread watcher;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
