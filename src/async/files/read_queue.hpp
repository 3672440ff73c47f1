#pragma once
// Reads that have not been started, in the order in which they will be: a binary heap, each of
// whose elements knows its place.

#include "base/accounted_array.hpp"
#include "braid/async/file_reader.hpp"

#include <tuple>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

class read_queue {
public:
    explicit read_queue(accounted_memory& memory) : all_(memory) {}

    /// False: no memory. push() does not fail for so many.
    bool reserve(std::size_t count) { return all_.reserve(count); }
    std::size_t size() const { return all_.size(); }
    file_request* first() { return all_.size() == 0 ? nullptr : all_[0]; }
    file_request* at(std::size_t i) { return all_[i]; }

    void push(file_request& r) {
        all_.push(&r);
        place(r, all_.size() - 1);
        rise(all_.size() - 1);
    }
    void remove(file_request& r) {
        const std::size_t gap = std::exchange(r.place, file_request::no_place);
        file_request& last = *all_[all_.size() - 1];
        all_.pop();
        if (&last == &r) return;
        place(last, gap);
        changed(last);
    }
    /// What decides about its place has changed.
    void changed(file_request& r) {
        rise(r.place);
        sink(r.place);
    }

private:
    static bool is_before(const file_request& a, const file_request& b) {
        const auto key = [](const file_request& r) {
            return std::tuple(-static_cast<int>(r.options.priority), r.options.frame,
                              r.of->descriptor(), r.offset, r.number);
        };
        return key(a) < key(b);
    }
    void place(file_request& r, std::size_t i) {
        all_[i] = &r;
        r.place = static_cast<std::uint32_t>(i);
    }
    void swap(std::size_t i, std::size_t j) {
        file_request &a = *all_[i], &b = *all_[j];
        place(a, j);
        place(b, i);
    }
    void rise(std::size_t i) {
        for (; i != 0 && is_before(*all_[i], *all_[(i - 1) / 2]); i = (i - 1) / 2) {
            swap(i, (i - 1) / 2);
        }
    }
    void sink(std::size_t i) {
        while (true) {
            std::size_t least = i;
            for (const std::size_t child : {2 * i + 1, 2 * i + 2}) {
                if (child < all_.size() && is_before(*all_[child], *all_[least])) least = child;
            }
            if (least == i) return;
            swap(i, least);
            i = least;
        }
    }

    accounted_array<file_request*, memory_tag::file> all_;
};

}  // namespace detail
BRAID_NAMESPACE_END
