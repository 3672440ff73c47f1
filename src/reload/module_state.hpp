#pragma once
// What the modules object holds, and who may touch it.

#include "braid/core/scheduler.hpp"
#include "braid/reload/function.hpp"
#include "braid/reload/modules.hpp"
#include "reload/barrier/barrier.hpp"
#include "reload/check/check.hpp"
#include "reload/known/known_codes.hpp"
#include "reload/load/loader.hpp"
#include "reload/migrate/state_change.hpp"
#include "reload/trial/running_trial.hpp"
#include "reload/trial/trial_run.hpp"
#include "reload/watch/lock_rules.hpp"
#include "reload/way_back/way_back.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// The modules of which code is to be replaced, and that code.
struct replacement {
    struct one {
        module_state* of;
        std::string old_build, old_file;
        platform::image_place old_place;

        /// What was to replace it was refused.
        bool stayed() const;
    };
    std::vector<one> modules;
    std::vector<replaced_code> codes;  // of the same
    nanoseconds within{0};

    void drop(std::size_t i) {
        modules.erase(modules.begin() + static_cast<std::ptrdiff_t>(i));
        codes.erase(codes.begin() + static_cast<std::ptrdiff_t>(i));
    }
};

/// Code in the process, or on its way there.
struct live_code {
    std::string hash;  // of the file's bytes
    checked_module file;
    loaded_module code;
    std::string remark;  // what the sentence about it adds
};

/// A call, and what it is to run.
struct call_target {
    import* of;
    void (*function)();
};

struct module_state {
    module_state(modules_state& all, module_options given)
        : owner(all), options(std::move(given)) {}

    /// Where each call of this module goes when it goes over to that code.
    void find_targets(const loaded_module& in, std::vector<call_target>& out) const;
    std::vector<wanted_function> wanted() const;

    modules_state& owner;
    const module_options options;

    // Under modules_state::mutex.
    std::vector<import*> imports;
    std::shared_ptr<live_code> untried, ready, current;  // from copied to running
    std::vector<std::string> refused;                    // hashes of contents
    std::string refused_by_state;                        // another state may take that content
    std::string last_said;                               // a refusal that is not about a content
    std::size_t loads = 0, bytes = 0;
    std::shared_ptr<live_code> later;  // ready, and came too late for the boundary that goes on
    bool dirty = true;
    bool locked = false;     // look again soon, although nothing may change
    bool unwatched = false;  // its folder cannot be watched yet

    // Under modules_state::checking.
    lock_rules lock;
    std::optional<std::int64_t> written_since_ns;  // INT64_MAX: it has been said
    std::vector<std::byte> content;                // of `waiting`
    std::shared_ptr<live_code> waiting;            // good, but another module sees a type otherwise
    std::map<std::string, int> copies;             // by build-id
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
    /// Loads the copies, and has the next boundary take them. `together`: all of them or, where one
    /// cannot be loaded, those that fit without it.
    void take(std::span<module_state* const> of, std::vector<std::shared_ptr<live_code>> codes,
              bool together);
    std::string difference_with_others(const module_state& m, const live_code& code,
                                       bool with_waiting) const;
    std::shared_ptr<live_code> copy_waiting(module_state& m);
    status copy(module_state& m, std::string& path);
    bool load_copy(module_state& m, live_code& code);
    debug_info* host_types();
    bool is_known(module_state& m, const std::string& hash);
    /// Said at the next boundary. `hash` names the content, or is empty where it is not at fault.
    void refuse(module_state& m, const std::string& hash, const std::string& reason);
    void wait_for_writers(module_state& m, const std::string& why);
    std::int64_t now() const;
    // ---- state_plan.cpp -------------------------------------------------------------------
    /// For what is ready: how the arenas' objects go over. Under `checking`.
    void plan_state();

    // ---- trial/trials.cpp ---------------------------------------------------------------
    void try_with(trial_function frame, trial_options wish);
    bool is_tried_first(std::span<module_state* const> codes);
    /// By the boundary: begins a trial, or looks whether one has ended. True: one goes on, or has
    /// to begin.
    bool follow_trial();
    bool begin_trial();
    /// The code was not loaded, so its copy goes, too. Under `mutex`.
    static void drop_untried(module_state& m);
    bool verdict_waits();
    std::vector<tried_code> find_untried() const;
    [[noreturn]] void be_child(running_trial& of);
    void try_code(trial_run& run, const replacement& all, const outcome& went,
                  std::int64_t begun_ns);
    /// Under `checking`: what a trial that has ended means. True: code was loaded.
    bool judge();
    void take_untried(std::span<const tried_code> of);
    void refuse_tried(const trial_verdict& verdict_of);

    // ---- migrate/invariants.cpp ------------------------------------------------------------
    /// What the types of the state that the code has rules for say about it; "": nothing is wrong.
    std::string broken_invariant();
    bool has_invariants() const;
    const char* (*check_of(const std::string& type) const)(const void* at);

    // ---- boundary.cpp ---------------------------------------------------------------------
    bool comes_too_early();
    void cross(outcome& went, barrier& rest, replacement& all);
    replacement find_replacement(const std::function<bool(const module_state&)>& wanted);
    void clear_way(barrier& rest, replacement& all);
    std::string text_of(const barrier& rest, const replacement& all, std::size_t piece) const;
    static void renew_destroyers(arena_state& in, const replacement& all, bool is_stopped) noexcept;
    /// What was replaced is not run any more. All that may fail was reserved.
    void retire(const replacement& all, barrier& rest) noexcept;

    // ---- way_back/way_back.cpp -------------------------------------------------------------
    /// Any thread. `from`: the module that is at fault; null: somebody asks.
    void ask_back(std::string why, const module_state* from);
    /// By the boundary. True: code and state went back.
    bool follow_way_back(outcome& went, barrier& rest, replacement& all);
    bool go_back(outcome& went, barrier& rest, replacement& all, const std::string& why);
    std::string way_back_text(const std::string& why) const;
    void free_spent();

    // ---- modules.cpp ----------------------------------------------------------------------
    void swap(outcome& went);
    /// A function may have been added since a file was checked. How many modules are refused.
    unsigned refuse_unmatched(std::string& text);
    /// `for_good`: until it is built anew.
    void drop_unfit(bool for_good);
    void watch();
    void watch_once();
    void start_check();
    void touched(const std::vector<std::string>& names, bool all);
    std::vector<module_state*> all_states();

    scheduler& tasks;
    const modules_options options;

    known_codes known{options.name_crashes, options.stop_stale_calls};  // by the boundaries' thread

    std::mutex mutex;
    std::vector<std::unique_ptr<module>> list;
    std::vector<std::string> notes;  // sentences without their points
    bool checking_task = false;      // one is on its way
    task_id last_task;
    std::vector<arena_state*> arenas;
    std::shared_ptr<const state_plan> state_planned;
    bool plan_is_late = false;  // what is ready waits for it
    trial_function trial_frame;
    trial_options trial_wish;
    std::optional<trial_verdict> verdict;     // to be judged
    std::unique_ptr<running_trial> trial_on;  // by the thread of the boundaries, as the next two
    std::int64_t trial_wanted_ns = 0;         // since when one is to begin; 0: none is
    std::unique_ptr<way_back> back;           // written by that thread
    std::string back_asked;                   // why
    std::vector<std::unique_ptr<way_back>> spent;

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

/// Calls the `reloaded` of the code that has replaced this, if it exports one. May throw what that
/// throws. `begun_ns`: when the boundary was.
void call_reloaded(const replacement::one& replaced, const outcome& went, std::int64_t begun_ns);

}  // namespace reload::detail
BRAID_NAMESPACE_END
