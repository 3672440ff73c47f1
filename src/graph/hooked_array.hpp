#pragma once
#include "base/accounted_memory.hpp"

#include <cstring>
#include <type_traits>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A vector whose memory goes through the user's hooks. Growing may fail; nothing is lost then.
template <class T>
class hooked_array {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    explicit hooked_array(accounted_memory& memory) : memory_(memory) {}
    ~hooked_array() {
        memory_.release(data_, capacity_ * sizeof(T), alignof(T), memory_tag::graph);
    }
    hooked_array(const hooked_array&) = delete;
    hooked_array& operator=(const hooked_array&) = delete;

    bool push(const T& value) {
        if (size_ == capacity_ && !reserve(capacity_ == 0 ? 16 : capacity_ * 2)) return false;
        data_[size_++] = value;
        return true;
    }
    /// Makes it that size, all zero.
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
    void remove_last() { --size_; }
    std::size_t size() const { return size_; }
    T& operator[](std::size_t i) { return data_[i]; }
    const T& operator[](std::size_t i) const { return data_[i]; }
    T* begin() { return data_; }
    T* end() { return data_ + size_; }
    const T* begin() const { return data_; }
    const T* end() const { return data_ + size_; }

private:
    bool reserve(std::size_t wanted) {
        if (wanted <= capacity_) return true;
        void* bytes = memory_.allocate(wanted * sizeof(T), alignof(T), memory_tag::graph);
        if (bytes == nullptr) return false;
        if (size_ != 0) std::memcpy(bytes, data_, size_ * sizeof(T));
        memory_.release(data_, capacity_ * sizeof(T), alignof(T), memory_tag::graph);
        data_ = static_cast<T*>(bytes);
        capacity_ = wanted;
        return true;
    }

    accounted_memory& memory_;
    T* data_ = nullptr;
    std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace detail
BRAID_NAMESPACE_END
