#pragma once
// A vector of plain data whose memory is accounted for under one tag. Growing may fail; nothing is
// lost then.

#include "base/accounted_memory.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class T, memory_tag Tag>
class accounted_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit accounted_array(accounted_memory& memory) : memory_(memory) {}
    ~accounted_array() { memory_.release(data_, capacity_ * sizeof(T), alignof(T), Tag); }
    accounted_array(const accounted_array&) = delete;
    accounted_array& operator=(const accounted_array&) = delete;

    /// Room for so many in all; whoever adds them one by one gets more, so that each is copied a
    /// few times at most. False: no memory.
    bool reserve(std::size_t wanted) {
        if (wanted <= capacity_) return true;
        if (wanted < 2 * capacity_) wanted = 2 * capacity_;
        void* bytes = memory_.allocate(wanted * sizeof(T), alignof(T), Tag);
        if (bytes == nullptr) return false;
        if (size_ != 0) std::memcpy(bytes, data_, size_ * sizeof(T));
        // A child of fork() may have its copy from between any two of these.
        T* const before = std::exchange(data_, static_cast<T*>(bytes));
        const std::size_t capacity = std::exchange(capacity_, wanted);
        memory_.release(before, capacity * sizeof(T), alignof(T), Tag);
        return true;
    }
    bool push(const T& value) {
        constexpr std::size_t first = 16;
        if (size_ == capacity_ && !reserve(size_ == 0 ? first : size_ + 1)) return false;
        data_[size_++] = value;
        return true;
    }
    void pop() { --size_; }
    void clear() { size_ = 0; }
    /// Makes it `size` long, all zero. False: no memory, and nothing has changed.
    bool reset(std::size_t size) {
        if (!reserve(size)) return false;
        size_ = size;
        if (size != 0) std::memset(static_cast<void*>(data_), 0, size * sizeof(T));
        return true;
    }
    template <class Unwanted>
    void remove_if(Unwanted&& unwanted) {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < size_; ++i) {
            if (!unwanted(data_[i])) data_[kept++] = data_[i];
        }
        size_ = kept;
    }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

private:
    accounted_memory& memory_;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
