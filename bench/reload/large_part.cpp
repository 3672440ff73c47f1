// One source of a large module: many types and functions, none of which the state uses. PART is its
// name.
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace PART {

/// A class as games have them, with containers of its own types.
template <int N>
struct thing {
    struct inner {
        double values[4] = {N};
        std::string name;
    };
    std::size_t update(int by) {
        known[by].emplace_back();
        by_name[std::to_string(by)] = std::make_unique<inner>();
        after = [this] { return known.size(); };
        return after() + by_name.size();
    }
    std::map<int, std::vector<inner>> known;
    std::unordered_map<std::string, std::unique_ptr<inner>> by_name;
    std::function<std::size_t()> after;
};

template <int... N>
std::size_t use(std::integer_sequence<int, N...>) {
    return (thing<N>().update(N) + ...);
}
[[gnu::used]] std::size_t use_all() { return use(std::make_integer_sequence<int, 40>()); }

}  // namespace PART
