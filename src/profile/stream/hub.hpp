#pragma once
// Between the recorder's thread, which must not wait, and the clients, who may be slow.

#include "profile/stream/chunks.hpp"

#include <chrono>
#include <deque>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// What one client gets next.
struct stream_message {
    enum kind {
        nothing,  // take() says when there is more
        bytes,
        lost,
        over,  // of the capture; nothing follows
    };
    kind what = nothing;
    std::vector<shared_block> blocks;
    std::uint64_t lost_bytes = 0;
};

/// Every call from any thread. The lock is held while pointers are moved, never while bytes are
/// copied or sent.
class hub {
public:
    explicit hub(std::size_t queue_bytes) : queue_bytes_(queue_bytes) {}

    class queue;

    /// True: a client waits for what came.
    bool take(std::span<const std::byte> chunks);

    /// From here on, and before it header, strings, types, lanes and facts of all that was.
    std::shared_ptr<queue> join();
    void leave(const std::shared_ptr<queue>& client);
    /// At most `block_bytes` unless one block alone is larger.
    stream_message next(queue& client);
    void note_sent(std::uint64_t bytes);

    /// ns since the capture began; 0 before.
    std::uint64_t now() const;

    struct counts {
        std::size_t clients = 0;
        std::uint64_t taken = 0, sent = 0, lost = 0;
    };
    counts statistics() const;

private:
    void begin_capture();
    void push(queue& to, const shared_block& what);

    const std::size_t queue_bytes_;
    mutable std::mutex mutex_;
    std::vector<shared_block> history_;
    std::vector<std::shared_ptr<queue>> clients_;
    std::chrono::steady_clock::time_point began_{};
    bool over_ = false;
    counts counts_;
};

}  // namespace profile
BRAID_NAMESPACE_END
