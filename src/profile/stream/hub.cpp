// Queues of the clients, and what a client gets that comes late.
#include "profile/stream/hub.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Behind the lock of the hub.
class hub::queue {
public:
    /// A block, or where some are missing.
    struct item {
        shared_block what;
        std::uint64_t lost = 0;
    };
    std::deque<item> items;
    std::size_t waiting = 0;  // bytes that could have been left out
    bool over = false;        // nothing is added
    bool idle = false;        // found nothing; to be woken
};

bool hub::take(std::span<const std::byte> chunks) {
    bool anyone = false;
    {
        const std::lock_guard lock(mutex_);
        counts_.taken += chunks.size();
        anyone = !clients_.empty();
    }
    // Who joins meanwhile misses these few milliseconds, as if it had come after them.
    const std::vector<shared_block> blocks = cut_chunks(chunks, anyone);
    const std::lock_guard lock(mutex_);
    bool waits = false;
    for (const shared_block& one : blocks) {
        if (one->what == block::header) begin_capture();
        if (one->what != block::events) history_.push_back(one);
        for (const auto& client : clients_) push(*client, one);
        over_ = over_ || one->what == block::done;
    }
    for (const auto& client : clients_) {
        client->over = client->over || over_;
        if (!client->items.empty() || client->over)
            waits = std::exchange(client->idle, false) || waits;
    }
    return waits;
}

/// Those who watch another capture see its end; a page reads one.
void hub::begin_capture() {
    for (const auto& client : clients_) client->over = !history_.empty();
    history_.clear();
    began_ = std::chrono::steady_clock::now();
    over_ = false;
}

void hub::push(queue& to, const shared_block& what) {
    if (to.over) return;
    const std::size_t size = what->bytes.size();
    if (what->what != block::events) {
        to.items.push_back({what, 0});  // the history has it anyway: it costs a pointer
    } else if (to.waiting + size <= queue_bytes_) {
        to.items.push_back({what, 0});
        to.waiting += size;
    } else {
        counts_.lost += size;
        if (to.items.empty() || to.items.back().what != nullptr) to.items.push_back({});
        to.items.back().lost += size;
    }
}

std::shared_ptr<hub::queue> hub::join() {
    auto client = std::make_shared<queue>();
    const std::lock_guard lock(mutex_);
    for (const shared_block& one : history_) client->items.push_back({one, 0});
    client->over = over_;
    clients_.push_back(client);
    return client;
}

void hub::leave(const std::shared_ptr<queue>& client) {
    const std::lock_guard lock(mutex_);
    std::erase(clients_, client);
}

stream_message hub::next(queue& client) {
    stream_message to;
    const std::lock_guard lock(mutex_);
    if (client.items.empty()) {
        client.idle = !client.over;
        if (client.over) to.what = stream_message::over;
        return to;
    }
    if (client.items.front().what == nullptr) {
        to.what = stream_message::lost;
        to.lost_bytes = client.items.front().lost;
        client.items.pop_front();
        return to;
    }
    to.what = stream_message::bytes;
    std::size_t size = 0;
    while (!client.items.empty() && client.items.front().what != nullptr) {
        shared_block& first = client.items.front().what;
        const std::size_t more = first->bytes.size();
        if (size != 0 && size + more > block_bytes) break;
        size += more;
        if (first->what == block::events) client.waiting -= more;
        to.blocks.push_back(std::move(first));
        client.items.pop_front();
    }
    return to;
}

void hub::note_sent(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    counts_.sent += bytes;
}

std::uint64_t hub::now() const {
    const std::lock_guard lock(mutex_);
    if (history_.empty()) return 0;
    const auto passed = std::chrono::steady_clock::now() - began_;
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(passed).count());
}

hub::counts hub::statistics() const {
    const std::lock_guard lock(mutex_);
    counts all = counts_;
    all.clients = clients_.size();
    return all;
}

}  // namespace profile
BRAID_NAMESPACE_END
