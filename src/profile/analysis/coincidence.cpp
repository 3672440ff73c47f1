// Greedily: the best causes alone; then, without each of them, the path that is critical now is
// searched for more. Where the path goes on to show the same cause, it is taken away there as well.
#include "profile/analysis/coincidence.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr std::size_t most_tried = 2;    // combinations of each kind that are looked at closely
constexpr unsigned most_paths = 32;      // that show the same cause, one after the other
constexpr unsigned few_paths = 8;        // where the frame is not longer than usual
constexpr double usual_slack = 1.1;      // times the usual frame: explained
constexpr std::uint64_t fine_left = 10;  // one tenth of the scheduler's work is left

std::vector<change> changes_of(const candidates& parts) {
    std::vector<change> all;
    for (const candidate& c : parts) {
        all.insert(all.end(), c.changes.begin(), c.changes.end());
    }
    return all;
}

/// How much shorter it makes the path on which it was found.
std::uint64_t potential(const candidate& c) {
    std::uint64_t sum = 0;
    for (const change& what : c.changes) sum += what.less_gap + what.less_time;
    return std::min(sum, c.most);
}

std::uint64_t potential(const combination& c) {
    std::uint64_t sum = 0;
    for (const candidate& part : c.parts) sum += potential(part);
    return sum;
}

/// Takes over what the same cause did elsewhere; false: it is known already.
bool merge(candidate& to, const candidate& more) {
    const auto key = [](const change& c) { return std::pair{c.node, c.less_gap != 0}; };
    std::set<std::pair<std::uint32_t, bool>> known;
    for (const change& what : to.changes) known.insert(key(what));
    const std::size_t before = to.changes.size();
    for (const change& what : more.changes) {
        if (!known.contains(key(what))) to.changes.push_back(what);
    }
    // Steps beside each other lost the same time; only the time of its own type is told.
    const bool same_type = to.type == more.type && to.outside == more.outside;
    if (same_type) to.time = std::max(to.time, more.time);
    to.with_others = to.with_others || !same_type;
    to.most = std::max(to.most, more.most);
    to.all_waited = to.all_waited && more.all_waited;
    return to.changes.size() != before;
}

class coincidence_search {
public:
    coincidence_search(scene& s, std::uint64_t usual_frame) : s_(s), usual_frame_(usual_frame) {}
    combination run();

private:
    enum class alters : std::uint8_t { favoured, overhead, foreign, anywhere, shared, less };
    using alterations = std::vector<std::tuple<alters, std::uint32_t, std::uint64_t>>;

    candidates look_along(std::span<const path_step> path);
    alterations altered_by(const candidates& parts, const candidate* but) const;
    void extend(combination from, std::vector<combination>& to);
    void evaluate(combination& c);
    void drop_useless(combination& c);
    std::uint64_t simulated(const candidates& parts, const candidate* but);
    std::uint64_t gain_of(const combination& c, const candidate& part) {
        const std::uint64_t with = simulated(c.parts, &part), without = simulated(c.parts, nullptr);
        return with > without ? with - without : 0;
    }
    bool explains(const combination& c) const {
        const double left = static_cast<double>(s_.graph.frame.length() - c.saved);
        return usual_frame_ == 0 || left <= usual_slack * static_cast<double>(usual_frame_);
    }
    combination best_alone(const std::vector<combination>& sorted) const;
    bool is_worth(const combination& more, const combination& best) const;
    bool is_long() const {
        return static_cast<double>(s_.graph.frame.length()) >
               usual_slack * static_cast<double>(usual_frame_);
    }

    scene& s_;
    const std::uint64_t usual_frame_;
    std::optional<frame_model> model_;  // made where it is needed
    // What the model says: many combinations are one to it.
    std::map<alterations, std::uint64_t> simulated_;
    bool stood_still_ = false;
};

candidates coincidence_search::look_along(std::span<const path_step> path) {
    s_.path = path;
    for (const path_step& step : path) s_.critical.insert(step.body);
    candidates found;
    // It is the same for all paths.
    if (!std::exchange(stood_still_, true)) find_standstill(s_, found);
    for (const auto find :
         {find_device, find_external, find_affinity, find_late_wake, find_background,
          find_preemption, find_priority, find_straggler, find_too_fine, find_serial_chain}) {
        find(s_, found);
    }
    std::erase_if(found, [&](const candidate& c) { return potential(c) < s_.least; });
    return found;
}

/// How the model changes without these causes, each as {kind, type or node, time}, in order. Other
/// changes of a cause the model does not know.
coincidence_search::alterations coincidence_search::altered_by(const candidates& parts,
                                                               const candidate* but) const {
    alterations all;
    for (const candidate& c : parts) {
        if (&c == but) continue;
        if (c.why == cause::priority) all.push_back({alters::favoured, c.type, 0});
        if (c.why == cause::too_fine) all.push_back({alters::overhead, 0, 0});
        if (c.why == cause::background) all.push_back({alters::foreign, 0, 0});
        for (const change& what : c.changes) {
            if (c.why == cause::affinity) all.push_back({alters::anywhere, what.node, 0});
            // Others had nothing to do, so that they take what is split off.
            const bool waited = c.why == cause::straggler && c.all_waited;
            if (c.why == cause::serial_chain || waited) {
                all.push_back({alters::shared, what.node, 0});
            }
            // The model leaves out what the system took, where that is known.
            const std::uint64_t known = s_.graph.nodes[what.node].preempted;
            const bool away = c.why == cause::standstill || c.why == cause::preemption;
            const std::uint64_t less = what.less_time - std::min(what.less_time, away ? known : 0);
            if (less != 0 && c.why != cause::background) {
                all.push_back({alters::less, what.node, less});
            }
        }
    }
    std::sort(all.begin(), all.end());
    return all;
}

/// How long the frame takes by the model without these causes. What it does not know, such as gaps
/// before a wake, it leaves out with and without them.
std::uint64_t coincidence_search::simulated(const candidates& parts, const candidate* but) {
    const auto [known, added] = simulated_.try_emplace(altered_by(parts, but), 0);
    if (!added) return known->second;
    if (!model_) model_ = make_frame_model(s_.t, s_.graph.frame);
    frame_model altered = *model_;
    machine same;
    same.recorded_order = true;
    for (const auto& [kind, which, time] : known->first) {
        switch (kind) {
            case alters::favoured:
                same.favoured_types.push_back(which);
                break;
            case alters::overhead:
                altered.overhead /= fine_left;
                break;
            case alters::foreign:
                for (std::size_t i = 0; i < altered.takes_part.size(); ++i) {
                    const std::uint32_t body = s_.graph.nodes[i].body;
                    if (body != none && s_.is_foreign(body)) altered.takes_part[i] = false;
                }
                break;
            case alters::anywhere:
                altered.anywhere.insert(which);
                break;
            case alters::shared:
                altered.shared.insert(which);
                break;
            case alters::less:
                altered.less[which] += time;
                break;
        }
    }
    return known->second = simulate(altered, same);
}

/// Others must run too: what background work and an order of tasks cost is what the model gains
/// without them, since all that waits shares the cores.
void coincidence_search::evaluate(combination& c) {
    const std::uint64_t length = s_.graph.frame.length();
    c.saved = saving(s_.graph, changes_of(c.parts));
    for (std::size_t i = 0; i < c.parts.size(); ++i) {
        const candidate& part = c.parts[i];
        const bool modelled = part.why == cause::background || part.why == cause::priority;
        if (!modelled && part.most == UINT64_MAX) continue;
        if (c.saved < s_.least) return;
        combination others = c;
        others.parts.erase(others.parts.begin() + static_cast<std::ptrdiff_t>(i));
        evaluate(others);
        if (part.why == cause::background) {
            // The model has no background work, with it or without.
            const std::uint64_t then = others.saved + simulated(c.parts, nullptr);
            const std::uint64_t gain = length > then ? length - then : 0;
            c.saved = std::min(c.saved, others.saved + std::min(part.time, gain));
        } else {
            const std::uint64_t most = modelled ? gain_of(c, part) : part.most;
            c.saved = std::min(c.saved, others.saved + most);
        }
    }
    c.saved = std::min(c.saved, length);
}

/// A cause may have hidden others and add nothing itself.
void coincidence_search::drop_useless(combination& c) {
    for (std::size_t i = 0; c.parts.size() > 1 && i < c.parts.size();) {
        combination without = c;
        without.parts.erase(without.parts.begin() + static_cast<std::ptrdiff_t>(i));
        evaluate(without);
        if (without.saved + s_.least / 2 < c.saved) {
            ++i;
        } else {
            c = std::move(without);
        }
    }
}

/// Longer by another cause: pushes what that makes.
void coincidence_search::extend(combination from, std::vector<combination>& to) {
    const std::unordered_set<std::uint32_t> critical = s_.critical;
    const unsigned most = is_long() ? most_paths : few_paths;
    for (unsigned paths = 0; paths < most; ++paths) {
        const retimed now = retime(s_.graph, changes_of(from.parts));
        const std::vector<path_step> path = critical_path(s_.graph, now.latest);
        bool goes_on = false;
        for (candidate& c : look_along(path)) {
            const auto same = std::find_if(from.parts.begin(), from.parts.end(),
                                           [&](const candidate& part) { return part.is_same(c); });
            if (same != from.parts.end()) {
                goes_on = merge(*same, c) || goes_on;
                continue;
            }
            to.push_back(from);
            to.back().parts.push_back(std::move(c));
        }
        if (!goes_on) break;
        to.push_back(from);
    }
    s_.critical = critical;
}

/// One after the other they would add up; then the greatest is enough. Those that coincide bring
/// much more together than the best of them alone.
bool coincidence_search::is_worth(const combination& more, const combination& best) const {
    if (more.saved < best.saved + s_.least) return false;
    return more.parts.size() == best.parts.size() || !explains(best) ||
           more.saved - best.saved >= best.saved / 2;
}

/// By insertion: they are few, and std::stable_sort() of this library wants a deprecated function.
template <class Iterator, class Before>
void sort_stably(Iterator first, Iterator last, Before before) {
    for (Iterator i = first; i != last; ++i) {
        std::rotate(std::upper_bound(first, i, *i, before), i, std::next(i));
    }
}

void sort(std::vector<combination>& all) {
    sort_stably(all.begin(), all.end(), [](const combination& a, const combination& b) {
        return a.saved != b.saved ? a.saved > b.saved : potential(a) > potential(b);
    });
}

/// Those that save most, and those that would save most if nothing else coincided with them.
void keep_promising(std::vector<combination>& sorted) {
    if (sorted.size() <= 2 * most_tried) return;
    sort_stably(
        sorted.begin() + most_tried, sorted.end(),
        [](const combination& a, const combination& b) { return potential(a) > potential(b); });
    sorted.resize(2 * most_tried);
}

/// Where the whole machine stood still, each thread was off its core, too: that says less.
combination coincidence_search::best_alone(const std::vector<combination>& sorted) const {
    for (const combination& c : sorted) {
        const bool still = c.parts[0].why == cause::standstill;
        if (still && c.saved + s_.least >= sorted.front().saved) return c;
    }
    return sorted.front();
}

combination coincidence_search::run() {
    combination best;
    std::vector<combination> tried;
    for (candidate& c : look_along(s_.path)) tried.push_back({{std::move(c)}, 0});
    for (std::size_t count = 1; !tried.empty(); ++count) {
        for (combination& c : tried) evaluate(c);
        sort(tried);
        if (count == 1) {
            best = best_alone(tried);
        } else {
            combination next = tried.front();
            drop_useless(next);
            if (is_worth(next, best)) best = std::move(next);
        }
        const bool enough = usual_frame_ != 0 && is_long() && explains(best);
        if (count == most_causes || enough) break;
        keep_promising(tried);
        std::vector<combination> more;
        for (combination& c : tried) extend(std::move(c), more);
        tried = std::move(more);
    }
    return best.saved < s_.least ? combination{} : best;
}

}  // namespace

combination find_causes(scene& s, std::uint64_t usual_frame) {
    return coincidence_search(s, usual_frame).run();
}

}  // namespace profile
BRAID_NAMESPACE_END
