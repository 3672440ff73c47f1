#include "reload/plan/compiler.hpp"

#include <algorithm>
#include <tuple>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// A member of the old type, and what it is in the new one.
struct pair {
    const member* was = nullptr;
    member is = {};
    bool by_path = false;
};

scalar scalar_of(const type_graph& in, type_id type) {
    const type_node& node = in[type];
    if (node.kind == type_kind::enumeration) {
        scalar s = in[node.target].kind == type_kind::nothing ? scalar{type_kind::signed_number, 0}
                                                              : scalar_of(in, node.target);
        s.bytes = static_cast<std::uint8_t>(node.size);
        return s;
    }
    return {node.kind, static_cast<std::uint8_t>(node.size)};
}

bool is_scalar(type_kind kind) { return is_number(kind) || kind == type_kind::enumeration; }

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

}  // namespace

// ---- what is said -------------------------------------------------------------------------------

void compiler::row(const std::string& type, const std::string& field, fate what, std::string text) {
    out_.rows.push_back({type, field, what, std::move(text)});
}

void compiler::refuse(const place& at, const std::string& why, bool always) {
    // A type that the sentence names anyway is called as its template: it may have 300 characters.
    const bool again = at.field.empty() && why.find(at.type) != std::string::npos;
    const std::string type = again ? at.type.substr(0, at.type.find('<')) : at.type;
    const std::string name = at.field.empty() ? type : type + "::" + at.field;
    row(type, at.field, fate::refused, why);
    (always ? always_ : out_.refused).push_back(name + " " + why);
}

std::uint32_t compiler::name_index(const place& at) {
    out_.names.push_back(at.field.empty() ? at.type : at.type + "::" + at.field);
    return static_cast<std::uint32_t>(out_.names.size() - 1);
}

std::uint32_t compiler::record_index(const std::string& type) {
    const auto found = std::ranges::find(out_.records, type);
    if (found != out_.records.end()) {
        return static_cast<std::uint32_t>(found - out_.records.begin());
    }
    out_.records.push_back(type);
    return static_cast<std::uint32_t>(out_.records.size() - 1);
}

// ---- programs -----------------------------------------------------------------------------------

std::uint32_t compiler::program_of(type_id a, type_id b) {
    const auto [at, fresh] = programs_.try_emplace({a, b}, 0);
    if (!fresh) return at->second;
    const auto index = static_cast<std::uint32_t>(out_.programs.size());
    at->second = index;
    out_.programs.emplace_back();
    program own;
    own.name = before_[a].name;
    own.from_type = a;
    own.to_name = after_[b].name;
    own.to_type = b;
    own.from_size = before_[a].size;
    own.to_size = after_[b].size;
    own.from_alignment = before_[a].alignment;
    own.to_alignment = after_[b].alignment;
    own.same = alike_(a, b) && !holds_tables(before_, a);
    if (!own.same) out_.moves = true;
    if (before_[a].kind == type_kind::record) compare_members(a, b);
    value(a, b, {.type = own.name}, own.steps);
    own.plain = own.same && is_bytes(before_, a);
    pieces(a, b, own);
    own.drop = drop_program(before_, a);
    if (record_of(notes_, after_[b].name) != nullptr) own.record = record_index(after_[b].name);
    out_.programs[index] = std::move(own);
    return index;
}

void compiler::finish() {
    while (!reached_.empty()) {
        const auto [a, b] = reached_.back();
        reached_.pop_back();
        program_of(a, b);
    }
    // State that stays where it is needs no rule for what is in it.
    if (!out_.moves) out_.refused.clear();
    out_.refused.insert(out_.refused.begin(), always_.begin(), always_.end());
    std::vector<std::string> once;
    for (std::string& one : out_.refused) {
        if (std::ranges::find(once, one) == once.end()) once.push_back(std::move(one));
    }
    out_.refused = std::move(once);
    std::vector<plan_row> rows;
    for (plan_row& one : out_.rows) {
        const bool silent = one.what == fate::refused && out_.refused.empty();
        if (!silent && std::ranges::find(rows, one) == rows.end()) rows.push_back(std::move(one));
    }
    out_.rows = std::move(rows);
}

void compiler::value(type_id a, type_id b, const place& at, steps& out) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    if (is_bytes(before_, a) && alike_(a, b)) {
        out.push_back(
            {.what = action::copy, .from = at.from, .to = at.to, .size = data_size(before_, a)});
        return;
    }
    for (const std::string& why : {cannot_follow(before_, a), cannot_follow(after_, b)}) {
        if (why.empty()) continue;
        const bool kept = keeps_code(before_, a) || keeps_code(after_, b);
        if (kept || !by_mover(a, b, at, out)) {
            const bool code =
                kept || is_code(was.kind) || is_code(is.kind) ||
                (was.kind == type_kind::pointer && before_[was.target].kind == type_kind::function);
            refuse(at, why, code || was.kind == type_kind::declaration);
        }
        return;
    }
    if (was.kind == type_kind::enumeration && is.kind == type_kind::enumeration) {
        enumeration(a, b, at, out);
    } else if (is_scalar(was.kind) && is_scalar(is.kind)) {
        number(scalar_of(before_, a), scalar_of(after_, b), at, out);
    } else if (was.kind != is.kind) {
        refuse(at, "was " + was.name + " and is " + is.name + ", which do not become each other");
    } else if (was.kind == type_kind::pointer) {
        pointer(a, b, at, out);
    } else if (was.kind == type_kind::array) {
        array(a, b, at, out);
    } else if (was.kind == type_kind::record) {
        record(a, b, at, out);
    } else {
        refuse(at, "is of a kind that is not known here");
    }
}

void compiler::number(const scalar& from, const scalar& to, const place& at, steps& out) {
    if (from == to && from.bits == 0) {
        out.push_back({.what = action::copy, .from = at.from, .to = at.to, .size = from.bytes});
        return;
    }
    if (from.bytes > 8 || to.bytes > 8 || from.bytes == 0 || to.bytes == 0) {
        return refuse(at, "is a number of " + bytes_text(std::max(from.bytes, to.bytes)) +
                              ", which is not converted");
    }
    out.push_back({.what = from.bits != 0 || to.bits != 0 ? action::bits : action::number,
                   .from = at.from,
                   .to = at.to,
                   .said = name_index(at),
                   .from_number = from,
                   .to_number = to});
}

void compiler::enumeration(type_id a, type_id b, const place& at, steps& out) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    enumeration_rule rule{.name = is.name, .from_bytes = was.size, .to_bytes = is.size};
    bool values_stay = true;
    for (const enumerator& one : was.values) {
        const auto found = std::ranges::find(is.values, one.name, &enumerator::name);
        if (found == is.values.end()) {
            rule.lost.emplace(one.value, one.name);
            values_stay = false;
        } else {
            rule.values.emplace(one.value, found->value);
            values_stay = values_stay && found->value == one.value;
        }
    }
    // Flags that are added up have no names; they stay where each name stays.
    if (values_stay) return number(scalar_of(before_, a), scalar_of(after_, b), at, out);
    out_.enumerations.push_back(std::move(rule));
    out.push_back({.what = action::enumerate,
                   .from = at.from,
                   .to = at.to,
                   .index = static_cast<std::uint32_t>(out_.enumerations.size() - 1),
                   .said = name_index(at),
                   .from_number = scalar_of(before_, a),
                   .to_number = scalar_of(after_, b)});
}

void compiler::pointer(type_id a, type_id b, const place& at, steps& out) {
    const type_id was = before_[a].target, is = after_[b].target;
    const std::string name = name_after(notes_, before_[was].name);
    const bool any =
        before_[was].kind == type_kind::nothing || after_[is].kind == type_kind::nothing;
    if (!any && name != after_[is].name && is_whole(name) &&
        !is_one_template(name, after_[is].name)) {
        return refuse(at, "pointed to " + before_[was].name + " and points to " + after_[is].name);
    }
    if (before_[was].kind == type_kind::declaration || after_[is].kind == type_kind::declaration) {
        return refuse({.type = before_[was].name}, only_declared(), true);
    }
    out_.pointers.push_back({.target = was,
                             .target_moves = !any && !alike_(was, is),
                             .target_name = before_[was].name});
    out.push_back({.what = action::point,
                   .from = at.from,
                   .to = at.to,
                   .index = static_cast<std::uint32_t>(out_.pointers.size() - 1),
                   .said = name_index(at)});
    if (reach_ && !any && !is_number(before_[was].kind)) reached_.emplace_back(was, is);
}

void compiler::array(type_id a, type_id b, const place& at, steps& out) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    const std::uint64_t count = std::min(was.count, is.count);
    const std::uint32_t each = program_of(was.target, is.target);
    if (out_.programs[each].plain) {
        out.push_back({.what = action::copy,
                       .from = at.from,
                       .to = at.to,
                       .size = count * before_[was.target].size});
    } else {
        out.push_back(
            {.what = action::repeat, .from = at.from, .to = at.to, .size = count, .program = each});
    }
    for (std::uint64_t i = count; i < is.count && !at.constructed; ++i) {
        const std::size_t before = out.size();
        blank(is.target, at.to + i * after_[is.target].size, at, out);
        if (out.size() == before) break;
    }
    if (was.count > count && drop_program(before_, was.target) != none) {
        out.push_back({.what = action::drop_repeat,
                       .from = at.from + count * before_[was.target].size,
                       .size = was.count - count,
                       .program = drop_program(before_, was.target)});
    }
}

// ---- records ------------------------------------------------------------------------------------

void compiler::record(type_id a, type_id b, const place& at, steps& out) {
    if (known_container(a, b, at, out)) return;
    const std::string name = name_after(notes_, before_[a].name);
    if (name != after_[b].name && is_whole(name) && !is_one_template(name, after_[b].name)) {
        return refuse(at, "was " + before_[a].name + " and is " + after_[b].name +
                              "; if it is the same type, say BRAID_RELOAD_RENAMED_TYPE(" +
                              after_[b].name + ", \"" + before_[a].name + "\")");
    }
    const bool whole = alike_(a, b) && !is_polymorphic(before_, a);
    // What a constructor has made is filled field by field: it may own something.
    if (whole && (!at.constructed || is_bytes(before_, a))) return alike_record(a, b, at, out);
    changed_record(a, b, at, out);
}

bool compiler::known_container(type_id a, type_id b, const place& at, steps& out) {
    const container was = container_of(before_, a), is = container_of(after_, b);
    if (was == container::by_members && is == container::by_members) return false;
    if (was != is) {
        refuse(at, "was " + before_[a].name + " and is " + after_[b].name +
                       ", which do not become each other");
        return true;
    }
    switch (was) {
        case container::text:
            out.push_back({.what = action::text, .from = at.from, .to = at.to});
            break;
        case container::list:
            elements(a, b, action::list, at, out);
            break;
        case container::own:
            if (is_polymorphic(before_, before_[a].arguments[0])) {
                refuse(at,
                       "owns an object whose class only its virtual functions know: make it in "
                       "the arena and keep a pointer");
                break;
            }
            elements(a, b, action::own, at, out);
            break;
        default:
            elements(a, b, action::maybe, at, out);
            out.back().index = static_cast<std::uint32_t>(out_.optionals.size());
            out_.optionals.push_back({*flag_of_optional(before_, a), *flag_of_optional(after_, b)});
            break;
    }
    return true;
}

void compiler::elements(type_id a, type_id b, action what, const place& at, steps& out) {
    const std::uint32_t each = program_of(before_[a].arguments[0], after_[b].arguments[0]);
    out.push_back(
        {.what = what, .from = at.from, .to = at.to, .program = each, .said = name_index(at)});
}

bool compiler::by_mover(type_id a, type_id b, const place& at, steps& out) {
    const type_notes::record* const own = record_of(notes_, after_[b].name);
    if (own == nullptr || !own->moves || before_[a].kind != type_kind::record || !alike_(a, b)) {
        return false;
    }
    for (const type_id argument : before_[a].arguments) {
        // The allocator and the comparison have no pointers; an element's would not be followed.
        if (holds_pointers(before_, argument) || holds_tables(before_, argument)) return false;
    }
    out.push_back({.what = action::move,
                   .from = at.from,
                   .to = at.to,
                   .size = before_[a].size,
                   .index = record_index(after_[b].name)});
    return true;
}

/// A record that lies as before: one copy, and then what is more than bytes.
void compiler::alike_record(type_id a, type_id b, const place& at, steps& out) {
    out.push_back(
        {.what = action::copy, .from = at.from, .to = at.to, .size = data_size(before_, a)});
    for (std::size_t i = 0; i < before_[a].members.size(); ++i) {
        const member& m = before_[a].members[i];
        if (is_bytes(before_, m.type) || m.bits != 0) continue;
        member_pair(m, after_[b].members[i],
                    {.from = at.from,
                     .to = at.to,
                     .type = before_[a].name,
                     .field = m.name,
                     .constructed = at.constructed},
                    out);
    }
}

bool compiler::make_first(type_id a, type_id b, place& at, steps& out) {
    if (at.constructed) return true;
    const type_notes::record* const own = record_of(notes_, after_[b].name);
    if (own == nullptr || !own->constructs) return false;
    std::vector<member> filled_too;
    for (member one : at.filled) {
        if (!any_within(after_, {one}, {.type = b, .bit = at.to * 8})) continue;
        one.bit -= at.to * 8;
        filled_too.push_back(std::move(one));
    }
    steps filled, added;
    clear(a, b, std::move(filled_too), filled, added);
    const std::uint32_t undo = added.empty() ? none : add_program(own->type, std::move(added));
    out.push_back({.what = action::construct,
                   .to = at.to,
                   .program = filled.empty() ? none : add_program(own->type, std::move(filled)),
                   .index = record_index(after_[b].name),
                   .said = undo});
    return at.constructed = true;
}

/// What a path fills is neither freed nor blank by then.
void compiler::add_leaves(const member& m, const member& n, place& at) {
    std::vector<leaf> all;
    leaf_of(m, n, {.to = {.bit = at.to * 8}}, all);
    for (leaf& one : all) at.filled.push_back(std::move(one.to));
}

void compiler::changed_record(type_id a, type_id b, const place& outer, steps& out) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    place at = outer;
    const bool made = make_first(a, b, at, out);
    if (!made && is_polymorphic(after_, b)) {
        return refuse(
            {.type = was.name},
            "has virtual functions, so each object is built anew; this line in the module "
            "says how: BRAID_RELOAD_TYPE(" +
                is.name + ")");
    }
    std::vector<pair> pairs;
    for (const member& m : was.members) {
        if (std::optional<member> now = renamed(a, b, m)) {
            const bool own = has_place(is.members, *now);
            if (!own) add_leaves(m, *now, at);
            pairs.push_back({&m, std::move(*now), !own});
        } else {
            drop(before_, m.type, at.from + m.bit / 8, out);
        }
    }
    // A base class that is made by its constructor is zero up to its size, also where the next
    // member has begun. What a path leads to is filled when all around it has been, and an object
    // at a path, which may be made by its constructor, before what a longer path fills in it.
    std::ranges::sort(pairs, {}, [](const pair& one) {
        return std::tuple(one.is.bit, one.by_path ? one.is.name.size() : 0,
                          one.was);  // those of one place as they stand
    });
    const auto fill = [&](bool by_path) {
        for (const pair& one : pairs) {
            if (one.by_path != by_path) continue;
            member_pair(*one.was, one.is,
                        {.from = at.from,
                         .to = at.to,
                         .type = was.name,
                         .field = one.was->name,
                         .constructed = at.constructed,
                         .filled = at.filled},
                        out);
        }
    };
    fill(false);
    for (const member& n : is.members) {
        const bool known =
            std::ranges::any_of(pairs, [&n](const pair& one) { return same_place(one.is, n); });
        if (at.constructed || known) continue;
        blank(n.type, at.to + n.bit / 8, {.type = is.name, .field = n.name, .filled = at.filled},
              out);
    }
    fill(true);
}

void compiler::member_pair(const member& m, const member& n, const place& at, steps& out) {
    place own = at;
    own.from += m.bit / 8;
    own.to += n.bit / 8;
    const std::uint64_t m_size = m.bits != 0 ? (m.bit % 8 + m.bits + 7) / 8 : before_[m.type].size;
    if (m.bits == 0 && n.bits == 0) return value(m.type, n.type, own, out);
    if (!is_scalar(before_[m.type].kind) || !is_scalar(after_[n.type].kind) || m_size > 9) {
        return refuse(own, "is a bit-field on one side and no number on the other");
    }
    scalar from = scalar_of(before_, m.type), to = scalar_of(after_, n.type);
    from.shift = static_cast<std::uint8_t>(m.bit % 8);
    from.bits = static_cast<std::uint8_t>(m.bits);
    to.shift = static_cast<std::uint8_t>(n.bit % 8);
    to.bits = static_cast<std::uint8_t>(n.bits);
    number(from, to, own, out);
    if (before_[m.type].kind == type_kind::enumeration && !alike_(m.type, n.type)) {
        refuse(own, "is a bit-field of an enumeration whose values change");
    }
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
