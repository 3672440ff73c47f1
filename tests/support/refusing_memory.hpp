#pragma once
// Memory that runs out: from the k-th request on every request is refused, until it is given back.

#include <braid/base/memory.hpp>

#include <atomic>
#include <climits>

namespace braid_test {

class refusing_memory {
public:
    explicit refusing_memory(const braid::memory_hooks& inner) : inner_(inner) {}

    braid::memory_hooks hooks() {
        return {.allocate = [](void* user, std::size_t bytes, std::size_t alignment,
                               braid::memory_tag tag) -> void* {
                    auto& self = *static_cast<refusing_memory*>(user);
                    if (--self.left_ < 0) {
                        ++self.refused_;
                        if (self.once_) self.give_back();
                        return nullptr;
                    }
                    return self.inner_.allocate(self.inner_.user, bytes, alignment, tag);
                },
                .release =
                    [](void* user, void* p, std::size_t bytes, std::size_t alignment,
                       braid::memory_tag tag) {
                        const auto& self = *static_cast<refusing_memory*>(user);
                        self.inner_.release(self.inner_.user, p, bytes, alignment, tag);
                    },
                .user = this};
    }
    /// `requests` more are granted, then none.
    void refuse_after(int requests) { left_ = requests; }
    /// `requests` more are granted, one is refused, and the next ones are granted again.
    void refuse_one_after(int requests) {
        once_ = true;
        left_ = requests;
    }
    void give_back() {
        left_ = INT_MAX;
        once_ = false;
    }
    int refused() const { return refused_; }

private:
    braid::memory_hooks inner_;
    std::atomic<int> left_{INT_MAX};
    std::atomic<bool> once_{false};
    std::atomic<int> refused_{0};
};

}  // namespace braid_test
