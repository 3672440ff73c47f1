// What else a program says of its objects: where their parts are, for pointers into them; what they
// own, for fields that are dropped or were filled by a constructor; and what a new part begins
// with.
#include "reload/plan/compiler.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

// ---- pointers into objects ----------------------------------------------------------------------

void compiler::pieces(type_id a, type_id b, program& own) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    const auto inner = [this](type_id x, type_id y) {
        const type_kind kind = before_[x].kind;
        // What a container that is not known here is made of is its own business.
        const bool parts =
            kind == type_kind::array ||
            (kind == type_kind::record && container_of(before_, x) != container::other);
        return parts && kind == after_[y].kind ? program_of(x, y) : none;
    };
    if (was.kind == type_kind::array && is.kind == type_kind::array) {
        own.pieces.push_back({.from_size = before_[was.target].size,
                              .to_size = after_[is.target].size,
                              .count = was.count,
                              .to_count = is.count,
                              .type = was.target,
                              .to_type = is.target,
                              .program = inner(was.target, is.target),
                              .row = true});
    }
    if (was.kind != type_kind::record || is.kind != type_kind::record ||
        container_of(before_, a) != container::by_members) {
        return;
    }
    for (const member& m : was.members) {
        const std::optional<member> now = renamed(a, b, m);
        if (!now || m.bits != 0 || now->bits != 0) continue;
        own.pieces.push_back({.from = m.bit / 8,
                              .from_size = before_[m.type].size,
                              .to = now->bit / 8,
                              .to_size = after_[now->type].size,
                              .type = m.type,
                              .to_type = now->type,
                              .program = inner(m.type, now->type)});
    }
}

// ---- what dropped fields own --------------------------------------------------------------------

std::uint32_t compiler::drop_program(const type_graph& in, type_id a) {
    const auto [at, fresh] = drops_.try_emplace({&in, a}, none);
    if (!fresh) return at->second;
    // Before its parts: a type may hold a list of itself.
    const std::uint32_t index = add_program(in[a].name, {});
    at->second = index;
    steps own;
    drop(in, a, 0, own);
    if (own.empty()) drops_[{&in, a}] = none;
    out_.programs[index].from_size = in[a].size;
    out_.programs[index].steps = std::move(own);
    return drops_[{&in, a}];
}

std::uint32_t compiler::add_program(const std::string& name, steps own) {
    program fresh;
    fresh.name = name;
    fresh.steps = std::move(own);
    out_.programs.push_back(std::move(fresh));
    return static_cast<std::uint32_t>(out_.programs.size() - 1);
}

/// `but`: parts that go on to own what they do.
void compiler::drop(const type_graph& in, type_id a, std::uint64_t from, steps& out,
                    const std::vector<member>& but) {
    if (has_place(but, {.type = a, .bit = from * 8})) return;
    const type_node& node = in[a];
    const container kind = container_of(in, a);
    if (kind == container::text) {
        out.push_back({.what = action::drop_text, .from = from});
    } else if (kind == container::list || kind == container::own) {
        const type_node& held = in[node.arguments[0]];
        out.push_back({.what = kind == container::list ? action::drop_list : action::drop_own,
                       .from = from,
                       .size = held.size,
                       .program = drop_program(in, node.arguments[0]),
                       .index = static_cast<std::uint32_t>(held.alignment)});
    } else if (kind == container::maybe) {
        const std::uint32_t value = drop_program(in, node.arguments[0]);
        if (value == none) return;
        out.push_back({.what = action::drop_maybe,
                       .from = from,
                       .size = *flag_of_optional(in, a),
                       .program = value});
    } else if (node.kind == type_kind::array && node.count != 0) {
        const std::uint32_t each = drop_program(in, node.target);
        if (each == none) return;
        out.push_back(
            {.what = action::drop_repeat, .from = from, .size = node.count, .program = each});
    } else if (node.kind == type_kind::record && kind == container::by_members) {
        for (const member& m : node.members) {
            if (!m.virtual_base) drop(in, m.type, from + m.bit / 8, out, but);
        }
    }
}

/// A new value that no constructor makes is zero, which must be a value of its type.
void compiler::blank(type_id b, std::uint64_t to, const place& at, steps& out) {
    if (has_place(at.filled, {.type = b, .bit = to * 8})) return;
    const type_node& node = after_[b];
    const container kind = container_of(after_, b);
    if (kind == container::text) {
        out.push_back({.what = action::blank, .to = to});
    } else if (kind == container::other || is_polymorphic(after_, b)) {
        refuse(at, "is new, and zero is no " + node.name + ": BRAID_RELOAD_TYPE(" + at.type +
                       ") in the module says how it is made");
    } else if (node.kind == type_kind::array) {
        for (std::uint64_t i = 0; i < node.count; ++i) {
            const std::size_t before = out.size();
            blank(node.target, to + i * after_[node.target].size, at, out);
            if (out.size() == before) break;
        }
    } else if (node.kind == type_kind::record && kind == container::by_members) {
        for (const member& m : node.members) {
            if (!m.virtual_base) blank(m.type, to + m.bit / 8, at, out);
        }
    }
}

/// What a constructor has put where values will be filled in, and what it has put into new fields.
/// `filled_too`: parts that fields around this type fill by a path, which may be its own fields,
/// too.
void compiler::clear(type_id a, type_id b, std::vector<member> filled_too, steps& filled,
                     steps& added) {
    std::vector<leaf> all;
    leaves(a, b, {}, all);
    for (leaf& one : all) filled_too.push_back(std::move(one.to));
    // Where an object goes by a path, the path names each part of it, and so does its own type.
    std::vector<member> once;
    for (member& one : filled_too) {
        if (has_place(once, one)) continue;
        drop(after_, one.type, one.bit / 8, filled);
        once.push_back(std::move(one));
    }
    drop(after_, b, 0, added, once);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
