#pragma once
// Free frames by size: each thread has some, and trades batches with the pool of the process.

#include "braid/async/co_frame.hpp"
#include "braid/base/mutex.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct free_frame {
    free_frame* next = nullptr;
    free_frame* next_batch = nullptr;  // of the first of a batch, in the pool
};

struct frame_batch {
    free_frame* first = nullptr;
    std::uint32_t count = 0;
};

/// One size of frames. Lives as long as the process: threads that end later than everything else
/// still give frames back.
class co_frame_pool {
public:
    static constexpr std::size_t step = 64;
    static constexpr unsigned sizes = pooled_frame_bytes / step;

    static unsigned size_of(std::size_t bytes) {
        return bytes == 0 ? 0 : static_cast<unsigned>((bytes - 1) / step);
    }
    static co_frame_pool& of(unsigned size);

    /// A batch, which may hold fewer frames than usual; none: no memory.
    frame_batch take();
    void give(frame_batch b);
    std::uint32_t batch() const { return batch_; }

private:
    static constexpr std::size_t slab_bytes = std::size_t{64} << 10;

    void init(unsigned size);
    frame_batch cut();

    std::size_t bytes_ = 0;
    std::uint32_t batch_ = 0;
    mutex mutex_;
    free_frame* first_ BRAID_GUARDED_BY(mutex_) = nullptr;  // batches
    void* slabs_ BRAID_GUARDED_BY(mutex_) = nullptr;        // each begins with a link to the next
};

class co_frame_cache {
public:
    static co_frame_cache& of_thread();
    ~co_frame_cache();

    void* take(std::size_t bytes);
    void give(void* frame, std::size_t bytes);

private:
    frame_batch free_[co_frame_pool::sizes];
    bool ended_ = false;  // the thread's objects are being destroyed
};

}  // namespace detail
BRAID_NAMESPACE_END
