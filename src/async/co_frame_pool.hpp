#pragma once
// Free frames by size: each thread has some, and trades batches with the pool of the process.

#include "braid/async/co_frame.hpp"
#include "braid/base/mutex.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct frame_batch {
    free_frame* first = nullptr;
    std::uint32_t count = 0;
};

/// One size of frames. Lives as long as the process: threads that end later than everything else
/// still give frames back.
class co_frame_pool {
public:
    static co_frame_pool& of(std::size_t size);

    /// A batch, which may hold fewer frames than usual; none: no memory.
    frame_batch take();
    void give(free_frame* batch);
    std::uint32_t batch() const { return batch_; }

private:
    static constexpr std::size_t slab_bytes = std::size_t{64} << 10;

    void init(std::size_t size);
    frame_batch cut();

    std::size_t bytes_ = 0;
    std::uint32_t batch_ = 0;
    mutex mutex_;
    free_frame* first_ BRAID_GUARDED_BY(mutex_) = nullptr;  // batches
    void* slabs_ BRAID_GUARDED_BY(mutex_) = nullptr;        // each begins with a link to the next
};

/// What the inline paths leave to the library, for frames that the pool has.
void* take_pooled_frame(std::size_t bytes);
void give_pooled_frame(void* frame, std::size_t bytes);

}  // namespace detail
BRAID_NAMESPACE_END
