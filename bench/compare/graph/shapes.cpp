#include "graph/shapes.hpp"

#include <numeric>

namespace bench::graph {
namespace {

std::vector<shape> make_shapes() {
    constexpr unsigned long_one = 10'000, side = 128;
    shape chain{"chain", std::vector<std::vector<unsigned>>(long_one)};
    for (unsigned i = 1; i < long_one; ++i) chain.before[i] = {i - 1};
    shape fan{"fan", std::vector<std::vector<unsigned>>(long_one)};
    for (unsigned i = 1; i < long_one - 1; ++i) fan.before[i] = {0};
    std::vector<unsigned>& all = fan.before.back();
    all.resize(long_one - 2);
    std::iota(all.begin(), all.end(), 1U);
    shape wavefront{"wavefront", std::vector<std::vector<unsigned>>(std::size_t{side} * side)};
    for (unsigned i = 0; i < side * side; ++i) {
        if (i >= side) wavefront.before[i].push_back(i - side);
        if (i % side != 0) wavefront.before[i].push_back(i - 1);
    }
    return {std::move(chain), std::move(fan), std::move(wavefront)};
}

}  // namespace

const std::vector<shape>& shapes() {
    static const std::vector<shape> all = make_shapes();
    return all;
}

std::vector<value> shape::expected() const {
    std::vector<value> v(size());
    for (unsigned i = 0; i < v.size(); ++i) v[i] = compute(v.data(), i);
    return v;
}

void add_shapes(suite& s) {
    for (const shape& of : shapes()) {
        for (unsigned threads = 1; threads <= 2; ++threads) {
            s.at(shape_row(of, threads), "ns/node",
                 of.name + " of " + std::to_string(of.size()) + " nodes, run again")
                .add("serial", [&of] {
                    return [&of] {
                        return repeat(of, [&](value* v) {
                            for (unsigned i = 0; i < of.size(); ++i) v[i] = of.compute(v, i);
                        });
                    };
                });
        }
    }
    add_shapes_braid(s);
    add_shapes_tbb(s);
}

}  // namespace bench::graph
