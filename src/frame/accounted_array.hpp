#pragma once
// A vector of plain data whose memory is the scheduler's. Growing may fail; nothing is lost then.

#include "base/accounted_memory.hpp"

#include <cstring>
#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace detail {

template <class T>
class accounted_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit accounted_array(accounted_memory& memory) : memory_(memory) {}
    ~accounted_array() {
        memory_.release(data_, capacity_ * sizeof(T), alignof(T), memory_tag::frame);
    }
    accounted_array(const accounted_array&) = delete;
    accounted_array& operator=(const accounted_array&) = delete;

    bool reserve(std::size_t wanted) {
        if (wanted <= capacity_) return true;
        if (wanted < 2 * capacity_) wanted = 2 * capacity_;
        void* bytes = memory_.allocate(wanted * sizeof(T), alignof(T), memory_tag::frame);
        if (bytes == nullptr) return false;
        if (size_ != 0) std::memcpy(bytes, data_, size_ * sizeof(T));
        memory_.release(data_, capacity_ * sizeof(T), alignof(T), memory_tag::frame);
        data_ = static_cast<T*>(bytes);
        capacity_ = wanted;
        return true;
    }
    bool push(const T& value) {
        if (!reserve(size_ + 1)) return false;
        data_[size_++] = value;
        return true;
    }
    void pop() { --size_; }
    void clear() { size_ = 0; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }

private:
    accounted_memory& memory_;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
