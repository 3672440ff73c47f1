#include "makespan/makespan.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <random>

namespace bench::makespan {
namespace {

using generator = std::mt19937_64;

double between(generator& random, double least, double most) {
    // The standard's distributions differ between libraries.
    return least + (most - least) * static_cast<double>(random() >> 11) * 0x1p-53;
}
unsigned number(generator& random, unsigned least, unsigned most) {
    return least + static_cast<unsigned>(random() % (most - least + 1));
}

unsigned add_node(member& m, double takes) {
    m.takes.push_back(takes);
    m.after.emplace_back();
    return static_cast<unsigned>(m.size() - 1);
}

void add_chain(generator& random, member& m, unsigned from, unsigned length, double most) {
    for (unsigned n = 0; n < length; ++n) {
        const unsigned next = add_node(m, between(random, most / 6, most));
        m.after[from].push_back(next);
        from = next;
    }
}

member chain_beside_wide_work(generator& random) {
    member m;
    unsigned links = number(random, 8, 40), wide = number(random, 20, 400);
    const unsigned none = UINT32_MAX;
    for (unsigned last = none; links + wide != 0;) {
        if (number(random, 1, links + wide) > links) {
            add_node(m, between(random, 2, 20));
            --wide;
            continue;
        }
        const unsigned next = add_node(m, between(random, 20, 60));
        if (last != none) m.after[last].push_back(next);
        last = next;
        --links;
    }
    return m;
}

member fork_with_its_long_branch_last(generator& random) {
    member m;
    const unsigned root = add_node(m, 5);
    for (unsigned n = number(random, 3, 39); n != 0; --n) {
        add_chain(random, m, root, number(random, 1, 4), 30);
    }
    add_chain(random, m, root, number(random, 8, 30), 30);
    return m;
}

member layers_with_a_heavy_tail(generator& random) {
    member m;
    const unsigned layers = number(random, 4, 16), width = number(random, 4, 24);
    std::vector<unsigned> before;
    for (unsigned l = 0; l < layers; ++l) {
        std::vector<unsigned> layer;
        for (unsigned n = number(random, (width + 1) / 2, width); n != 0; --n) {
            // Pareto with exponent 1.2, cut at 80 times the least.
            const double takes = 5 * std::pow(between(random, 1e-9, 1), -1 / 1.2);
            layer.push_back(add_node(m, std::min(400.0, takes)));
            for (unsigned k = before.empty() ? 0 : number(random, 1, 3); k != 0; --k) {
                const unsigned from = before[random() % before.size()];
                std::vector<unsigned>& after = m.after[from];
                if (after.empty() || after.back() != layer.back()) after.push_back(layer.back());
            }
        }
        before = std::move(layer);
    }
    return m;
}

/// Of each node: the longest way from its start to the end.
std::vector<double> ways(const member& m, const std::vector<double>& takes) {
    std::vector<double> way(m.size());
    for (std::size_t i = m.size(); i-- != 0;) {
        for (const unsigned s : m.after[i]) way[i] = std::max(way[i], way[s]);
        way[i] += takes[i];
    }
    return way;
}

/// What a graph knows of its nodes after 20 runs that differed by up to 15 %.
std::vector<double> averages(const member& m) {
    generator random(m.size());
    std::vector<double> known(m.size());
    for (std::size_t i = 0; i < m.size(); ++i) {
        for (int run = 0; run < 20; ++run) {
            const double took = m.takes[i] * between(random, 0.85, 1.15);
            known[i] = run == 0 ? took : known[i] + (took - known[i]) / 8;
        }
    }
    return known;
}

/// The greater, the sooner.
std::vector<double> priorities(const member& m, order by) {
    switch (by) {
        case order::fifo:
            return std::vector<double>(m.size());
        case order::fixed_levels: {
            std::vector<double> level = ways(m, std::vector<double>(m.size(), 1));
            const double longest = *std::max_element(level.begin(), level.end());
            for (double& l : level) l = std::min(2.0, std::floor(3 * l / longest));
            return level;
        }
        case order::critical_path:
            return ways(m, averages(m));
    }
    return {};
}

struct sums {
    double logarithms = 0, within = 0, worst = 0;
};

/// Of one order against the bound, and against the best of the other two.
sums compare(unsigned workers, order by) {
    sums s;
    for (unsigned n = 0; n < members; ++n) {
        const member m = make_member(n);
        const double took = simulate(m, workers, by);
        const double bound = lower_bound(m, workers);
        if (took < bound * (1 - 1e-9)) throw wrong_answer("a schedule ends before its lower bound");
        double best = HUGE_VAL;
        for (const order other : {order::fifo, order::fixed_levels, order::critical_path}) {
            if (other != by) best = std::min(best, simulate(m, workers, other));
        }
        s.logarithms += std::log(took / bound);
        s.within += took <= 1.05 * best ? 1 : 0;
        s.worst = std::max(s.worst, took / best);
    }
    return s;
}

}  // namespace

member make_member(unsigned number) {
    generator random(number);
    switch (number % 3) {
        case 0:
            return chain_beside_wide_work(random);
        case 1:
            return fork_with_its_long_branch_last(random);
        default:
            return layers_with_a_heavy_tail(random);
    }
}

double lower_bound(const member& m, unsigned workers) {
    const std::vector<double> way = ways(m, m.takes);
    const double work = std::accumulate(m.takes.begin(), m.takes.end(), 0.0);
    return std::max(*std::max_element(way.begin(), way.end()), work / workers);
}

double simulate(const member& m, unsigned workers, order by) {
    const std::vector<double> priority = priorities(m, by);
    std::vector<unsigned> left(m.size());
    for (const auto& after : m.after) {
        for (const unsigned s : after) ++left[s];
    }
    struct ready_node {
        double priority;
        std::size_t turn;
        unsigned node;
        bool operator<(const ready_node& o) const {
            return priority != o.priority ? priority < o.priority : turn > o.turn;
        }
    };
    struct running_node {
        double end;
        unsigned node;
        bool operator>(const running_node& o) const {
            return end != o.end ? end > o.end : node > o.node;
        }
    };
    std::priority_queue<ready_node> ready;
    std::priority_queue<running_node, std::vector<running_node>, std::greater<>> running;
    std::size_t turn = 0;
    const auto add = [&](unsigned i) { ready.push({priority[i], turn++, i}); };
    for (unsigned i = 0; i < m.size(); ++i) {
        if (left[i] == 0) add(i);
    }
    double now = 0;
    for (std::size_t over = 0; over < m.size(); ++over) {
        while (running.size() < workers && !ready.empty()) {
            const unsigned node = ready.top().node;
            ready.pop();
            running.push({now + m.takes[node], node});
        }
        const running_node first = running.top();
        running.pop();
        now = first.end;
        for (const unsigned s : m.after[first.node]) {
            if (--left[s] == 0) add(s);
        }
    }
    return now;
}

void add(suite& s) {
    constexpr struct {
        const char* system;
        order by;
    } orders[] = {
        {"fifo", order::fifo}, {"static", order::fixed_levels}, {"dynamic", order::critical_path}};
    for (const unsigned workers : {2U, 4U, 8U, 16U}) {
        const std::string row = "graph.makespan.w" + std::to_string(workers);
        s.at(row, "/bound", "200 skewed graphs in virtual time, geometric mean over lower bound");
        s.at(row + ".within", "%", "how many of them end within 1.05 of the better other order");
        s.at(row + ".worst", "/best other", "the worst of them");
        for (const auto& o : orders) {
            s.at(row).add(o.system, [=] {
                return [=] { return std::exp(compare(workers, o.by).logarithms / members); };
            });
            s.at(row + ".within").add(o.system, [=] {
                return [=] { return 100 * compare(workers, o.by).within / members; };
            });
            s.at(row + ".worst").add(o.system, [=] {
                return [=] { return compare(workers, o.by).worst; };
            });
        }
    }
    add_real(s);
}

}  // namespace bench::makespan
