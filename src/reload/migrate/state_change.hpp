#pragma once
// What a boundary does to the arenas before the first call goes over.

#include "braid/reload/modules.hpp"
#include "reload/migrate/migration.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct module_state;
struct modules_state;

/// A plan that was made in the background, for one set of code and the types that arenas had.
struct state_plan {
    /// The copies of all modules: those that run and those that are to.
    std::vector<std::string> before, after;
    /// Modules, in the order of these, whose new code knows a type of the state.
    std::vector<bool> concerned;
    std::vector<std::string> types;
    migration_plan plan;
    std::string table;  // of the plan
    std::vector<object_maker> makers;
};

/// State that went over by a plan: before the commit the new one, then the old one.
struct kept_state {
    kept_state(std::shared_ptr<const state_plan> by, bool keeps)
        : planned(std::move(by)), moved(planned->plan, planned->makers, keeps) {}
    std::shared_ptr<const state_plan> planned;
    migration moved;
};

struct loaded_type;
/// What code with these types can do with objects of that name.
object_maker maker_of(const std::vector<loaded_type>& types, const std::string& name);

/// Under modules_state::mutex.
class state_change {
public:
    explicit state_change(modules_state& of) : of_(of) {}
    /// Builds the new state of what is ready. Modules that it refuses are no longer ready; it says
    /// so in `text` and returns how many they are. May throw std::bad_alloc; then, and without
    /// commit(), all state is as before.
    unsigned prepare(std::string& text);
    /// False: it is not ready, or waits for a plan for types that came after the last one.
    bool takes(const module_state& m) const;
    /// What the sentence about a boundary adds.
    std::string remark() const;
    std::string take_table() noexcept { return std::move(table_); }
    /// Returns the old state; null: all stays where it is.
    std::unique_ptr<kept_state> commit(outcome::migration& done) noexcept;
    /// False: after commit() there is no way back.
    bool can_go_back() const;

private:
    bool is_for_this_code() const;
    bool has_all_types() const;
    void ask_for_plan();
    void build();
    unsigned refuse(std::string& text);

    modules_state& of_;
    std::shared_ptr<const state_plan> planned_;
    std::unique_ptr<kept_state> state_;
    std::string why_, table_;
    bool later_ = false;
    nanoseconds time_{0};
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
