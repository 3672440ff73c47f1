#include "cilksort/cilksort.hpp"

#include "algorithms/algorithms.hpp"

namespace bench::cilksort {
namespace {

struct one_after_the_other {
    template <class F, class G>
    void operator()(F f, G g) const {
        f(*this);
        g(*this);
    }
};

long expected() {
    static const long answer = [] {
        const auto& all = algorithms::numbers();
        std::vector<std::uint32_t> v(all.begin(), all.begin() + count);
        std::sort(v.begin(), v.end());
        return algorithms::checksum(v);
    }();
    return answer;
}

}  // namespace

double timed(const std::function<void(numbers, numbers)>& sort) {
    static std::vector<std::uint32_t> v(count), spare(count);
    std::copy_n(algorithms::numbers().begin(), count, v.begin());
    const double ns = time_ns([&] { sort(v, spare); });
    check_equal(algorithms::checksum(v), expected(), "cilksort");
    return ns / 1e6;
}

void add_serial(suite& s) {
    for (const unsigned threads : thread_counts) {
        s.at(with_threads("cilksort", threads), "ms", "merge sort of 4 million numbers by joins")
            .add("serial", [] {
                return [] {
                    return timed(
                        [](numbers v, numbers spare) { sort(one_after_the_other{}, v, spare); });
                };
            });
    }
}

}  // namespace bench::cilksort
