#pragma once
// Internal: an array that keeps its memory from frame to frame and leaves new elements
// uninitialised.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <type_traits>

namespace arena {

template <typename Value>
class scratch_array {
    static_assert(std::is_trivially_copyable_v<Value>);

public:
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    Value* data() { return data_.get(); }
    const Value* data() const { return data_.get(); }
    Value& operator[](std::size_t i) { return data_[i]; }
    const Value& operator[](std::size_t i) const { return data_[i]; }

    void push(const Value& value) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = value;
    }

    /// Appends `count` elements of any value and returns the first.
    Value* append(std::size_t count) {
        if (size_ + count > capacity_) grow(size_ + count);
        size_ += count;
        return data_.get() + (size_ - count);
    }

private:
    void grow(std::size_t least) {
        const std::size_t capacity = std::max<std::size_t>({least + least / 2, capacity_ * 2, 64});
        auto bigger = std::make_unique_for_overwrite<Value[]>(capacity);
        if (size_ != 0) std::memcpy(bigger.get(), data_.get(), size_ * sizeof(Value));
        data_ = std::move(bigger);
        capacity_ = capacity;
    }

    std::unique_ptr<Value[]> data_;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace arena
