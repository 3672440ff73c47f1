#pragma once
// Executes a plan over memory: builds each object that the roots lead to in a new place, and puts
// the new places into use in one step that cannot fail. The old ones may stay for a way back.

#include "reload/arena/arena_state.hpp"
#include "reload/load/object_maker.hpp"
#include "reload/migrate/regions.hpp"
#include "reload/plan/plan.hpp"

#include <span>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Thrown while state is built anew: half a sentence that says why it stays as it is.
struct migration_refused {
    std::string why;
};

class migration {
public:
    /// `makers`: for plan.records, in their order. Both outlive this. `keeps`: the old state is to
    /// stay as it is after the commit, too, so the new one shares nothing with it.
    migration(const migration_plan& plan, std::span<const object_maker> makers, bool keeps)
        : plan_(plan), makers_(makers), keeps_(keeps) {}
    /// Without a commit the old state is as it was, and what was built is gone.
    ~migration();
    migration(const migration&) = delete;
    migration& operator=(const migration&) = delete;

    /// Builds everything. Throws migration_refused, or std::bad_alloc.
    void build(std::span<arena_state* const> arenas);
    /// The arenas hold the new objects, and the old memory is this object's; the destructor frees
    /// it.
    void commit() noexcept;
    /// After a commit: the arenas hold the old objects again, as they were then, and the new ones
    /// are destroyed. Only if nothing was moved out of the old ones.
    void take_back() noexcept;
    bool concerns(const arena_state& of) const noexcept;
    /// The name of a type whose objects were moved out of the old state; "": there is none.
    const std::string& moved_type() const;

    std::uint64_t objects() const { return objects_; }
    std::uint64_t bytes() const { return bytes_; }
    /// Pointers that lead out of the state, where they led before.
    std::uint64_t outside() const { return outside_; }

private:
    /// An arena, and what it will hold.
    struct side {
        arena_state* of = nullptr;
        arena_memory memory;
        std::vector<std::byte*> roots = {};
        std::vector<arena_state::type> types = {};
        std::vector<std::uint32_t> programs = {};  // by types
    };
    struct queued {
        side* in;
        allocation* old;
    };
    struct late_pointer {
        std::byte* at;
        const std::byte* old;
        const operation* step;
    };
    struct owned {
        void* at;
        std::uint64_t alignment;
    };
    struct moved_object {
        std::uint32_t record;
        std::byte *to, *from;
    };

    void prepare(side& in);
    static void exchange(arena_state& of, side& in) noexcept;
    std::byte* place(side& in, allocation& old);
    void objects(const program& p, const std::byte* from, std::byte* to, std::uint64_t count);
    void object(const program& p, const std::byte* from, std::byte* to);
    void run(const operation& step, const std::byte* from, std::byte* to);
    void construct(const operation& step, std::byte* to);
    void point(const operation& step, const std::byte* from, std::byte* to);
    void list(const operation& step, const std::byte* from, std::byte* to);
    void own(const operation& step, const std::byte* from, std::byte* to);
    void text(const operation& step, const std::byte* from, std::byte* to);
    void blank(std::byte* to);
    void maybe(const operation& step, const std::byte* from, std::byte* to);
    /// What the object at `from` owns is added to `out`.
    void drop(const operation& step, const std::byte* from, std::vector<owned>& out);
    void drop_all(const program& p, const std::byte* from, std::uint64_t count,
                  std::vector<owned>& out);
    std::byte* buffer(std::uint64_t bytes, std::uint64_t alignment);
    /// What the old state owns there, for the new one.
    std::byte* take_over(std::byte* old, std::uint64_t bytes, std::uint64_t alignment);
    void point_late();
    void drop_unreached();
    void move_objects();
    void check();
    [[noreturn]] void refuse(const operation& step, const std::string& why) const;

    const migration_plan& plan_;
    std::span<const object_maker> makers_;
    std::vector<std::unique_ptr<side>> sides_;
    std::vector<queued> queue_;
    std::vector<late_pointer> late_;
    region_map regions_;
    std::vector<owned> made_, gone_;  // freed without a commit, and by one
    std::vector<owned> constructed_;  // by constructors, in fields that are new
    std::vector<moved_object> moves_;
    std::size_t moved_ = 0;
    const bool keeps_;
    bool committed_ = false;
    std::uint64_t objects_ = 0, bytes_ = 0, outside_ = 0;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
