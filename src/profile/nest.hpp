#pragma once
// What lies on top of what on one thread, from begins and ends of which some were lost: a ring that
// is full drops records, and a capture begins and ends somewhere.

#include "braid/base/version.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// `Key` tells which begin an end belongs to; several that are open may have the same. Times play
/// no part: what is said first comes first, also at one moment.
template <class Key, class Item>
class nest {
public:
    bool empty() const { return open_.empty(); }
    std::size_t size() const { return open_.size(); }
    Item& top() { return open_.back().item; }
    const Item& top() const { return open_.back().item; }

    void begin(const Key& key, Item item) {
        ++count_[key];
        open_.push_back({key, std::move(item)});
    }

    /// Ends the innermost one of that key by close(item, false), after all that lies on top of it
    /// by close(item, true): calls nest, so their ends were lost. The item is no longer in the nest
    /// when it is closed. False: there is none, its begin was lost; everything stays as it is.
    template <class Close>
    bool end(const Key& key, Close&& close) {
        if (!uncover(key, close)) return false;
        end_top(false, close);
        return true;
    }

    /// The same, but the one of that key stays open.
    template <class Close>
    bool uncover(const Key& key, Close&& close) {
        if (!count_.contains(key)) return false;
        while (!(open_.back().key == key)) end_top(true, close);
        return true;
    }

    template <class Close>
    void end_top(bool lost, Close&& close) {
        open one = std::move(open_.back());
        open_.pop_back();
        const auto count = count_.find(one.key);
        if (--count->second == 0) count_.erase(count);
        close(std::move(one.item), lost);
    }

    /// Nothing more comes: the ends of all that is open are lost.
    template <class Close>
    void end_all(Close&& close) {
        while (!empty()) end_top(true, close);
    }

private:
    struct open {
        Key key;
        Item item;
    };
    std::vector<open> open_;
    std::map<Key, std::uint32_t> count_;  // so that nothing is looked for in vain
};

}  // namespace profile
BRAID_NAMESPACE_END
