// Which member of the old type is which of the new one, and the rows of the table that say it.
#include "reload/plan/compiler.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

std::string place_of(const member& m) {
    const std::string at = "offset " + std::to_string(m.bit / 8);
    return m.bits == 0 ? at : at + ", bit " + std::to_string(m.bit % 8);
}

std::string shape_of(const type_graph& in, const member& m) {
    return m.bits == 0 ? in[m.type].name : in[m.type].name + " : " + std::to_string(m.bits);
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

const member* compiler::renamed(const type_node& a, const type_node& b, const member& m,
                                bool& dropped) const {
    std::string name = m.base ? name_after(notes_, m.name) : m.name;
    for (const type_notes::rename& one : notes_.renames) {
        if (one.from != m.name || one.from.empty() || m.base) continue;
        if (even_name(one.type) != even_name(b.name)) continue;
        dropped = one.to.empty();
        if (dropped) return nullptr;
        name = one.to;
    }
    if (name.empty()) {
        const std::size_t rank = rank_of(a, m);
        for (const member& n : b.members) {
            if (n.name.empty() && rank_of(b, n) == rank) return &n;
        }
        return nullptr;
    }
    const auto found = std::ranges::find_if(
        b.members, [&](const member& n) { return n.name == name && n.base == m.base; });
    if (found != b.members.end() || !m.base) return found != b.members.end() ? &*found : nullptr;
    const auto like = std::ranges::find_if(
        b.members, [&](const member& n) { return n.base && is_one_template(name, n.name); });
    return like != b.members.end() ? &*like : nullptr;
}

void compiler::compare_members(type_id a, type_id b) {
    const type_node& was = before_[a];
    const type_node& is = after_[b];
    if (container_of(before_, a) != container::by_members || !cannot_follow(before_, a).empty())
        return;
    if (was.name != is.name && is_whole(was.name)) {
        row(was.name, "", fate::renamed, "is " + is.name + " now");
    }
    std::vector<const member*> gone, old;
    for (const member& m : was.members) {
        bool dropped = false;
        const member* const n = renamed(was, is, m, dropped);
        if (n == nullptr) {
            if (!dropped) gone.push_back(&m);
            if (dropped) row(was.name, m.name, fate::dropped, "was " + shape_of(before_, m));
            continue;
        }
        old.push_back(n);
        const fate what = fate_of(before_, m, after_, *n);
        const std::string from = shape_of(before_, m), to = shape_of(after_, *n);
        std::string text;
        if (what == fate::renamed) text = "is '" + n->name + "' now";
        if (from != to) {
            text += (text.empty() ? "" : ", ") + from + " " +
                    word_for_change(before_[m.type], after_[n->type]) + " " + to;
        }
        if (m.bit != n->bit) {
            text += (text.empty() ? "" : ", ") + place_of(m) + " to " + place_of(*n);
        }
        if (what != fate::same) row(was.name, m.name, what, text);
    }
    const type_notes::record* const made = record_of(notes_, is.name);
    const std::string filled = made != nullptr && made->constructs
                                   ? "from the constructor"
                                   : "zero, without BRAID_RELOAD_TYPE(" + is.name + ")";
    for (const member& n : is.members) {
        if (std::ranges::find(old, &n) != old.end()) continue;
        const auto alike = std::ranges::find_if(gone, [&](const member* m) {
            return shape_of(before_, *m) == shape_of(after_, n) && !m->base && !n.base;
        });
        row(was.name, n.name, fate::added, shape_of(after_, n) + ", " + filled);
        // It would be refused by the next reload.
        const std::string why = cannot_follow(after_, n.type);
        if (!why.empty() && record_of(notes_, after_[n.type].name) == nullptr) {
            refuse({.type = was.name, .field = n.name}, why);
        }
        if (alike == gone.end()) continue;
        const std::string question = "was dropped, and '" + n.name +
                                     "' of the same type was added: say in the module "
                                     "BRAID_RELOAD_RENAMED(" +
                                     is.name + ", " + (*alike)->name + ", " + n.name +
                                     ") if it is the same field, else BRAID_RELOAD_DROPPED(" +
                                     is.name + ", " + (*alike)->name + ")";
        row(was.name, (*alike)->name, fate::asked, question);
        out_.refused.push_back(was.name + "::" + (*alike)->name + " " + question);
        gone.erase(alike);
    }
    for (const member* m : gone) {
        row(was.name, m->name, fate::dropped, "was " + shape_of(before_, *m));
    }
    if (was.size != is.size && old.size() == is.members.size() &&
        old.size() == was.members.size()) {
        row(was.name, "", fate::changed,
            std::to_string(was.size) + " bytes become " + std::to_string(is.size));
    }
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
