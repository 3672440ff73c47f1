// Which member of the old type is which of the new one, and the rows of the table that say it.
#include "reload/plan/compiler.hpp"

#include <algorithm>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// How many structs a question looks into, one in the other.
constexpr int deepest_question = 3;

std::string place_of(const member& m) {
    const std::string at = "offset " + std::to_string(m.bit / 8);
    return m.bits == 0 ? at : at + ", bit " + std::to_string(m.bit % 8);
}

std::string shape_of(const type_graph& in, const member& m) {
    return m.bits == 0 ? in[m.type].name : in[m.type].name + " : " + std::to_string(m.bits);
}

std::string line_of(const type_notes::rename& said) {
    return said.to.empty()
               ? "BRAID_RELOAD_DROPPED(" + said.type + ", " + said.from + ")"
               : "BRAID_RELOAD_RENAMED(" + said.type + ", " + said.from + ", " + said.to + ")";
}

const member* field_of(const type_node& in, const std::string& name) {
    const auto found = std::ranges::find_if(
        in.members, [&name](const member& m) { return m.name == name && !m.base; });
    return found != in.members.end() ? &*found : nullptr;
}

/// "'a'", "'a' and 'b'", "'a', 'b' and 'c'".
std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (i != 0) text += i + 1 == names.size() ? " and " : ", ";
        text += "'" + names[i] + "'";
    }
    return text;
}

/// Members without a name count from the first.
std::size_t rank_of(const type_node& in, const member& m) {
    std::size_t rank = 0;
    for (const member& one : in.members) {
        if (&one == &m) break;
        rank += one.name.empty() ? 1 : 0;
    }
    return rank;
}

fate fate_of(const type_graph& before, const member& m, const type_graph& after, const member& n) {
    const type_node& was = before[m.type];
    const type_node& is = after[n.type];
    if (m.name != n.name) return fate::renamed;
    if (was.kind == type_kind::array && is.kind == type_kind::array && was.count != is.count) {
        return fate::resized;
    }
    return shape_of(before, m) != shape_of(after, n) ? fate::changed
           : m.bit != n.bit                          ? fate::moved
                                                     : fate::same;
}

std::string word_for_change(const type_node& was, const type_node& is) {
    if (!is_number(was.kind) || !is_number(is.kind)) return "becomes";
    if (was.size == is.size && was.kind == is.kind) return "becomes";
    return is.size > was.size && (was.kind == is.kind) ? "is widened to" : "is checked to fit";
}

}  // namespace

// ---- which is which -----------------------------------------------------------------------------

/// The line of the module that says what has become of a field. Types that lie alike need none.
const type_notes::rename* compiler::said_of(type_id a, type_id b, const member& m) {
    const type_notes::rename* said = nullptr;
    for (const type_notes::rename* const one : lines_about(b)) {
        if (one->from == m.name && !m.base) said = one;
    }
    return said != nullptr && !alike_(a, b) ? said : nullptr;
}

std::vector<const type_notes::rename*> compiler::lines_about(type_id b) const {
    std::vector<const type_notes::rename*> lines;
    for (const type_notes::rename& one : notes_.renames) {
        if (one.from.empty()) continue;  // it is about a type's name
        if (even_name(one.type) == even_name(after_[b].name)) lines.push_back(&one);
    }
    return lines;
}

/// None: the field goes.
std::optional<member> compiler::renamed(type_id a, type_id b, const member& m) {
    const std::vector<member>& now = after_[b].members;
    if (const type_notes::rename* const said = said_of(a, b, m)) {
        return said->to.empty() ? std::nullopt : member_at(after_, b, said->to);
    }
    const std::string name = m.base ? name_after(notes_, m.name) : m.name;
    auto found = now.end();
    if (name.empty()) {
        const std::size_t rank = rank_of(before_[a], m);
        found = std::ranges::find_if(
            now, [&](const member& n) { return n.name.empty() && rank_of(after_[b], n) == rank; });
    } else {
        found = std::ranges::find_if(
            now, [&](const member& n) { return n.name == name && n.base == m.base; });
    }
    if (found == now.end() && m.base) {
        found = std::ranges::find_if(
            now, [&](const member& n) { return n.base && is_one_template(name, n.name); });
    }
    return found != now.end() ? std::optional(*found) : std::nullopt;
}

void compiler::leaf_of(const member& m, const member& n, const leaf& around,
                       std::vector<leaf>& out) {
    leaf own{path_into(around.from, m), n};
    own.to.name = path_into(around.to.name, n);
    own.to.bit += around.to.bit;
    const bool parts = before_[m.type].kind == type_kind::record &&
                       after_[n.type].kind == type_kind::record &&
                       container_of(after_, n.type) == container::by_members;
    if (parts) {
        leaves(m.type, n.type, own, out);
    } else {
        out.push_back(std::move(own));
    }
}

/// All that goes over from one type to the other, without what only holds it.
void compiler::leaves(type_id a, type_id b, const leaf& around, std::vector<leaf>& out) {
    for (const member& m : before_[a].members) {
        if (const auto n = renamed(a, b, m)) leaf_of(m, *n, around, out);
    }
}

bool compiler::is_like(const member& m, const member& n) const {
    return m.bits == n.bits && name_after(notes_, before_[m.type].name) == after_[n.type].name;
}

// ---- rows ---------------------------------------------------------------------------------------

void compiler::compare_members(type_id a, type_id b) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    if (container_of(before_, a) != container::by_members || !cannot_follow(before_, a).empty())
        return;
    if (was.name != is.name && is_whole(was.name)) {
        row(was.name, "", fate::renamed, "is " + is.name + " now");
    }
    std::vector<const member*> gone;
    std::vector<member> old;
    for (const member& m : was.members) {
        const std::optional<member> n = renamed(a, b, m);
        if (n) {
            old.push_back(*n);
            known_row(m, *n, was.name);
        } else if (const type_notes::rename* const said = said_of(a, b, m); said == nullptr) {
            gone.push_back(&m);
        } else if (said->to.empty()) {
            row(was.name, m.name, fate::dropped, "was " + shape_of(before_, m));
        } else {
            refuse({.type = was.name, .field = m.name}, "has no new place: there is no '" +
                                                            said->to + "' in " + is.name + ", as " +
                                                            line_of(*said) + " says");
        }
    }
    check_lines(a, b, gone);
    ask_for_paths(a, b, gone);
    added_rows(a, b, {.type = b}, old, gone);
    for (const member* m : gone) {
        row(was.name, m->name, fate::dropped, "was " + shape_of(before_, *m));
    }
    if (was.size != is.size && old.size() == is.members.size() &&
        old.size() == was.members.size()) {
        row(was.name, "", fate::changed,
            std::to_string(was.size) + " bytes become " + std::to_string(is.size));
    }
}

void compiler::known_row(const member& m, const member& n, const std::string& type) {
    const fate what = fate_of(before_, m, after_, n);
    const std::string from = shape_of(before_, m), to = shape_of(after_, n);
    std::string text;
    if (what == fate::renamed) text = "is '" + n.name + "' now";
    if (from != to) {
        text += (text.empty() ? "" : ", ") + from + " " +
                word_for_change(before_[m.type], after_[n.type]) + " " + to;
    }
    if (m.bit != n.bit) text += (text.empty() ? "" : ", ") + place_of(m) + " to " + place_of(n);
    if (what != fate::same) row(type, m.name, what, text);
}

/// What is new in `within`, a part of the new type or all of it.
void compiler::added_rows(type_id a, type_id b, const member& within,
                          const std::vector<member>& old, std::vector<const member*>& gone) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    const type_notes::record* const made = record_of(notes_, is.name);
    const std::string filled = made != nullptr && made->constructs
                                   ? "from the constructor"
                                   : "zero, without BRAID_RELOAD_TYPE(" + is.name + ")";
    for (const member& n : after_[within.type].members) {
        member own = n;
        own.bit += within.bit;
        own.name = path_into(within.name, n);
        if (has_place(old, own)) continue;
        // Some of it comes from old fields.
        if (has_parts(after_, n.type) && any_within(after_, old, own)) {
            added_rows(a, b, own, old, gone);
            continue;
        }
        const std::string name = joined(within.name, n.name);
        row(was.name, name, fate::added, shape_of(after_, n) + ", " + filled);
        // It would be refused by the next reload.
        const std::string why = cannot_follow(after_, n.type);
        if (!why.empty() && record_of(notes_, after_[n.type].name) == nullptr) {
            refuse({.type = was.name, .field = name}, why);
        }
        const auto alike = std::ranges::find_if(
            gone, [&](const member* m) { return is_like(*m, n) && !m->base && !n.base; });
        if (alike == gone.end()) continue;
        ask(a, b, **alike, {name});
        gone.erase(alike);
    }
}

// ---- questions ----------------------------------------------------------------------------------

void compiler::ask(type_id a, type_id b, const member& m, const std::vector<std::string>& places) {
    const type_node& was = before_[a];
    const std::string& type = after_[b].name;
    const bool one = places.size() == 1;
    const std::string question = "was dropped, and " + listed(places) + " of the same type " +
                                 (one ? "was" : "were") + " added: say in the module " +
                                 line_of({type, m.name, places.front()}) +
                                 (one ? " if it is the same field, else "
                                      : ", with the one of them that is the same field, else ") +
                                 line_of({type, m.name, ""});
    row(was.name, m.name, fate::asked, question);
    out_.refused.push_back(was.name + "::" + m.name + " " + question);
}

/// Fields that go while a struct gets a member of that name and type are no longer in `gone`.
void compiler::ask_for_paths(type_id a, type_id b, std::vector<const member*>& gone) {
    if (gone.empty()) return;
    std::vector<leaf> all;
    leaves(a, b, {}, all);
    std::vector<member> taken;
    for (leaf& one : all) taken.push_back(std::move(one.to));
    std::erase_if(gone, [&](const member* m) {
        std::vector<std::string> places;
        for (int depth = 1; depth <= deepest_question && !m->base && !m->name.empty(); ++depth) {
            find_places(*m, {.type = b}, depth, taken, places);
        }
        if (!places.empty()) ask(a, b, *m, places);
        return !places.empty();
    });
}

/// Members that no old field fills, in that many structs within `within`.
void compiler::find_places(const member& wanted, const member& within, int depth,
                           const std::vector<member>& taken, std::vector<std::string>& out) {
    for (const member& n : after_[within.type].members) {
        member own = n;
        own.bit += within.bit;
        own.name = path_into(within.name, n);
        if (depth > 0) {
            if (!n.virtual_base && has_parts(after_, n.type)) {
                find_places(wanted, own, depth - 1, taken, out);
            }
        } else if (n.name == wanted.name && !n.base && is_like(wanted, n) &&
                   !any_within(after_, taken, own)) {
            out.push_back(own.name);
        }
    }
}

// ---- lines that cannot be followed --------------------------------------------------------------

/// `gone`: fields that go without an answer.
void compiler::check_lines(type_id a, type_id b, const std::vector<const member*>& gone) {
    const std::vector<const type_notes::rename*> lines = lines_about(b);
    if (lines.empty() || alike_(a, b)) return;
    const type_node& was = before_[a];
    const auto lost =
        std::ranges::find_if(gone, [](const member* m) { return !m->base && !m->name.empty(); });
    for (const type_notes::rename* const one : lines) {
        if (field_of(was, one->from) == nullptr) {
            // An earlier reload may have followed it: it is meant for this one only if a field goes
            // and its new place comes.
            if (lost == gone.end() || one->to.empty() || member_at(before_, a, one->to) ||
                !member_at(after_, b, one->to)) {
                continue;
            }
            refuse({.type = was.name}, "has no '" + one->from + "', as " + line_of(*one) +
                                           " says, and its '" + (*lost)->name +
                                           "' goes: correct the line, or remove it");
            continue;
        }
        const type_notes::rename* const other = said_of(a, b, *field_of(was, one->from));
        if (other->to == one->to) continue;
        refuse({.type = was.name, .field = one->from}, "has two answers, " + line_of(*one) +
                                                           " and " + line_of(*other) +
                                                           ": leave one of them");
    }
    check_places(a, b);
}

/// Two fields of old objects do not become one.
void compiler::check_places(type_id a, type_id b) {
    std::vector<leaf> all;
    leaves(a, b, {}, all);
    std::vector<const leaf*> by_place;
    for (const leaf& one : all) by_place.push_back(&one);
    // Those of one place as they stand in the old type.
    std::ranges::sort(by_place, {}, [](const leaf* one) { return std::pair(one->to.bit, one); });
    for (std::size_t i = 1; i < by_place.size(); ++i) {
        const leaf& one = *by_place[i - 1];
        const leaf& other = *by_place[i];
        if (!same_place(one.to, other.to) || data_size(after_, one.to.type) == 0) continue;
        refuse({.type = before_[a].name, .field = one.from},
               "and " + before_[a].name + "::" + other.from + " both go to '" + one.to.name +
                   "' of " + after_[b].name +
                   ": leave one of them, by BRAID_RELOAD_RENAMED or BRAID_RELOAD_DROPPED");
    }
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
