// The order: each root gets a new place, and then whatever a pointer leads to; a pointer into the
// arena is corrected at once, one into memory of a container when all of that has its new place.
#include "reload/migrate/migration.hpp"

#include "reload/migrate/numbers.hpp"

#include <algorithm>
#include <cstring>
#include <new>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

void free_memory(void* at, std::uint64_t alignment) {
    if (alignment > __STDCPP_DEFAULT_NEW_ALIGNMENT__) {
        ::operator delete(at, std::align_val_t{alignment});
    } else {
        ::operator delete(at);
    }
}

}  // namespace

migration::~migration() {
    for (std::size_t i = committed_ ? 0 : moved_; i > 0; --i) {
        const moved_object& one = moves_[i - 1];
        const object_maker& maker = makers_[one.record];
        // What was moved from is still an object.
        if (maker.destroy != nullptr) maker.destroy(one.from);
        maker.move(one.from, one.to);
        if (maker.destroy != nullptr) maker.destroy(one.to);
    }
    if (!committed_) {
        for (const owned& one : made_) free_memory(one.at, one.alignment);
        for (const owned& one : constructed_) free_memory(one.at, one.alignment);
        return;
    }
    for (const owned& one : gone_) free_memory(one.at, one.alignment);
}

void migration::refuse(const operation& step, const std::string& why) const {
    throw migration_refused{plan_.names[step.said] + " " + why};
}

void migration::prepare(side& in) {
    const arena_state& of = *in.of;
    in.types = of.types;
    for (arena_state::type& one : in.types) {
        const auto found = plan_.roots.find(one.name);
        in.programs.push_back(found != plan_.roots.end() ? found->second : none);
        if (found == plan_.roots.end()) continue;
        const program& p = plan_.programs[found->second];
        one.size = p.to_size;
        one.alignment = p.to_alignment;
        one.name = p.to_name;
        one.migrated = true;  // also one that had nothing to destroy: it may have by now
        one.destroy = p.record != none ? makers_[p.record].destroy : nullptr;
    }
    in.of->memory.for_each([](allocation& a) { a.moved = nullptr; });
}

std::byte* migration::place(side& in, allocation& old) {
    if (old.moved != nullptr) return old.moved;
    const std::uint32_t index = in.programs[old.type];
    if (index == none || plan_.programs[index].from_size != in.of->types[old.type].size) {
        throw migration_refused{"the state has objects of " + in.of->types[old.type].name +
                                ", of which the plan knows nothing"};
    }
    const program& p = plan_.programs[index];
    old.moved = in.memory.take(old.type, old.count, p.to_size, p.to_alignment);
    // What one copy does not fill is zero at first.
    if (!p.plain) std::memset(old.moved, 0, old.count * p.to_size);
    queue_.push_back({&in, &old});
    objects_ += old.count;
    bytes_ += old.count * p.to_size;
    return old.moved;
}

void migration::build(std::span<arena_state* const> arenas) {
    for (arena_state* const one : arenas) {
        sides_.push_back(std::make_unique<side>());
        sides_.back()->of = one;
        prepare(*sides_.back());
    }
    for (const auto& in : sides_) {
        for (const arena_state::root& one : in->of->roots) {
            in->roots.push_back(place(*in, *in->of->memory.find(one.at)));
        }
    }
    while (!queue_.empty()) {
        const queued next = queue_.back();
        queue_.pop_back();
        const program& p = plan_.programs[next.in->programs[next.old->type]];
        objects(p, next.old->at, next.old->moved, next.old->count);
    }
    point_late();
    drop_unreached();
    move_objects();
    check();
}

void migration::objects(const program& p, const std::byte* from, std::byte* to,
                        std::uint64_t count) {
    if (p.plain) {
        std::memcpy(to, from, count * p.from_size);
        return;
    }
    for (std::uint64_t i = 0; i < count; ++i) object(p, from + i * p.from_size, to + i * p.to_size);
}

void migration::object(const program& p, const std::byte* from, std::byte* to) {
    for (const operation& step : p.steps) run(step, from + step.from, to + step.to);
}

void migration::run(const operation& step, const std::byte* from, std::byte* to) {
    switch (step.what) {
        case action::copy:
            std::memcpy(to, from, step.size);
            break;
        case action::construct:
            construct(step, to);
            break;
        case action::number:
        case action::bits: {
            const number_value value = read_number(step.from_number, from);
            if (!write_number(value, step.to_number, to)) {
                refuse(step, "is " + text_of(value) + ", which the new type cannot hold");
            }
            break;
        }
        case action::enumerate: {
            const enumeration_rule& rule = plan_.enumerations[step.index];
            const std::int64_t value = read_signed(step.from_number, from);
            const auto found = rule.values.find(value);
            if (found == rule.values.end()) {
                const auto lost = rule.lost.find(value);
                refuse(step,
                       lost != rule.lost.end()
                           ? "is '" + lost->second + "', which " + rule.name + " has no more"
                           : "is " + std::to_string(value) + ", which is no name of " + rule.name);
            }
            write_bits(static_cast<std::uint64_t>(found->second), step.to_number, to);
            break;
        }
        case action::point:
            point(step, from, to);
            break;
        case action::repeat:
            objects(plan_.programs[step.program], from, to, step.size);
            break;
        case action::list:
            list(step, from, to);
            break;
        case action::text:
            text(step, from, to);
            break;
        case action::maybe:
            maybe(step, from, to);
            break;
        case action::own:
            own(step, from, to);
            break;
        case action::blank:
            blank(to);
            break;
        case action::move:
            moves_.push_back({step.index, to, const_cast<std::byte*>(from)});
            break;
        default:
            drop(step, from, gone_);
            break;
    }
}

void migration::construct(const operation& step, std::byte* to) {
    const auto make = makers_[step.index].construct;
    const std::string& name = plan_.records[step.index];
    if (make == nullptr) throw migration_refused{name + " has no default constructor any more"};
    try {
        make(to);
    } catch (const std::bad_alloc&) {
        throw;
    } catch (...) {
        throw migration_refused{"the constructor of " + name + " threw an exception"};
    }
    if (step.said != none) drop_all(plan_.programs[step.said], to, 1, constructed_);
    if (step.program == none) return;
    std::vector<owned> filled;
    drop_all(plan_.programs[step.program], to, 1, filled);
    for (const owned& one : filled) free_memory(one.at, one.alignment);
}

// ---- pointers -----------------------------------------------------------------------------------

void migration::point(const operation& step, const std::byte* from, std::byte* to) {
    std::byte* old = nullptr;
    std::memcpy(&old, from, sizeof(void*));
    std::memset(to, 0, sizeof(void*));
    if (old == nullptr) return;
    for (const auto& in : sides_) {
        allocation* const found = in->of->memory.find(old);
        if (found == nullptr) continue;
        std::byte* const begin = place(*in, *found);
        const program& p = plan_.programs[in->programs[found->type]];
        const auto offset =
            place_after(plan_, p, found->count, static_cast<std::uint64_t>(old - found->at),
                        plan_.pointers[step.index].target);
        if (!offset) refuse(step, "points to a part of " + p.name + " that the new code lacks");
        std::byte* const now = begin + *offset;
        std::memcpy(to, &now, sizeof now);
        return;
    }
    late_.push_back({to, old, &step});
}

void migration::point_late() {
    regions_.sort();
    for (const late_pointer& one : late_) {
        const pointer_rule& rule = plan_.pointers[one.step->index];
        auto* now = const_cast<std::byte*>(one.old);
        if (const region* const in = regions_.find(one.old)) {
            if (in->to == nullptr)
                refuse(*one.step, "points into memory that a dropped field owns");
            const auto offset = static_cast<std::uint64_t>(one.old - in->begin);
            const auto found = in->what == nullptr
                                   ? std::optional(offset)
                                   : place_after(plan_, *in->what, in->count, offset, rule.target);
            if (!found) {
                refuse(*one.step,
                       "points to a part of " + in->what->name + " that the new code lacks");
            }
            now = in->to + *found;
        } else if (rule.target_moves) {
            refuse(*one.step, "points to a " + rule.target_name +
                                  " outside of the state, and that type changes: make it in the "
                                  "arena");
        } else {
            ++outside_;
        }
        std::memcpy(one.at, &now, sizeof now);
    }
}

// ---- what is moved and checked last -------------------------------------------------------------

void migration::move_objects() {
    for (const moved_object& one : moves_) {
        if (makers_[one.record].move == nullptr) {
            throw migration_refused{plan_.records[one.record] + " has no mover any more"};
        }
        makers_[one.record].move(one.to, one.from);
        ++moved_;
    }
}

void migration::check() {
    for (const auto& in : sides_) {
        in->memory.for_each([&](allocation& a) {
            const std::uint32_t index = in->programs[a.type];
            const program& p = plan_.programs[index];
            if (p.record == none || makers_[p.record].check == nullptr) return;
            for (std::uint64_t i = 0; i < a.count; ++i) {
                const char* const wrong = makers_[p.record].check(a.at + i * p.to_size);
                if (wrong == nullptr) continue;
                throw migration_refused{"reload_invariant of " + p.to_name + " says: " + wrong};
            }
        });
    }
}

void migration::drop_unreached() {
    for (const auto& in : sides_) {
        in->of->memory.for_each([&](allocation& a) {
            const std::uint32_t index = in->programs[a.type];
            if (a.moved != nullptr || index == none) return;
            const std::uint32_t own = plan_.programs[index].drop;
            if (own != none) drop_all(plan_.programs[own], a.at, a.count, gone_);
        });
    }
}

void migration::commit() noexcept {
    committed_ = true;
    for (const auto& in : sides_) {
        arena_state& of = *in->of;
        exchange(of, *in);
    }
    for (const moved_object& one : moves_) {
        if (makers_[one.record].destroy != nullptr) makers_[one.record].destroy(one.from);
    }
}

/// What the arena holds for what the side has.
void migration::exchange(arena_state& of, side& in) noexcept {
    of.memory.swap(in.memory);
    of.types.swap(in.types);
    for (std::size_t i = 0; i < in.roots.size(); ++i) std::swap(of.roots[i].at, in.roots[i]);
}

void migration::take_back() noexcept {
    for (const auto& in : sides_) {
        arena_state& of = *in->of;
        of.destroy_objects();
        exchange(of, *in);
        // What came after the commit is gone.
        of.roots.erase(of.roots.begin() + static_cast<std::ptrdiff_t>(in->roots.size()),
                       of.roots.end());
        std::erase_if(of.known, [&](const auto& one) { return one.second >= of.types.size(); });
    }
    gone_.clear();
}

bool migration::concerns(const arena_state& of) const noexcept {
    return std::ranges::any_of(sides_, [&](const auto& in) { return in->of == &of; });
}

const std::string& migration::moved_type() const {
    static const std::string nothing;
    return moves_.empty() ? nothing : plan_.records[moves_.front().record];
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
