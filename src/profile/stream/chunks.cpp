// What take() is given becomes blocks.
#include "profile/stream/chunks.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr std::size_t head_bytes = 8;
constexpr std::size_t events_head_bytes = head_bytes + 16;  // and lane, count, dropped

std::uint32_t number_at(std::span<const std::byte> bytes, std::size_t at) {
    std::uint32_t number = 0;
    std::memcpy(&number, bytes.data() + at, sizeof number);
    return number;
}

class cutter {
public:
    explicit cutter(bool with_events) : with_events_(with_events) {}

    void header(std::span<const std::byte> bytes) {
        add(block::header, bytes);
        close();
    }
    void chunk(std::span<const std::byte> bytes) {
        switch (number_at(bytes, 0)) {
            case tag_of("EVTS"):
                if (with_events_) events(bytes);
                break;
            case tag_of("CLCK"):
                // The times of records are made of these already; one every few milliseconds is
                // nothing to keep for those who come later.
                if (with_events_) add(block::events, bytes);
                break;
            case tag_of("DONE"):
                add(block::done, bytes);
                break;
            default:
                add(block::kept, bytes);
        }
    }
    std::vector<shared_block> take() {
        close();
        return std::move(all_);
    }

private:
    void close() {
        if (!open_.bytes.empty()) all_.push_back(std::make_shared<const block>(std::move(open_)));
        open_ = {};
    }
    void make_room(block::kind what, std::size_t bytes) {
        if (open_.what != what || open_.bytes.size() + bytes > block_bytes) close();
        open_.what = what;
    }
    void append(std::span<const std::byte> bytes) {
        open_.bytes.insert(open_.bytes.end(), bytes.begin(), bytes.end());
    }
    void add(block::kind what, std::span<const std::byte> bytes) {
        make_room(what, bytes.size());
        append(bytes);
    }

    void events(std::span<const std::byte> bytes) {
        if (bytes.size() <= block_bytes) return add(block::events, bytes);
        constexpr std::size_t most = (block_bytes - events_head_bytes) / sizeof(record);
        std::size_t left = std::min<std::size_t>(
            number_at(bytes, 12), (bytes.size() - events_head_bytes) / sizeof(record));
        std::byte head[events_head_bytes];
        std::memcpy(head, bytes.data(), sizeof head);
        for (auto rest = bytes.subspan(events_head_bytes); left != 0;) {
            const std::size_t now = std::min(most, left);
            const auto count = static_cast<std::uint32_t>(now);
            const auto payload =
                static_cast<std::uint32_t>(events_head_bytes - head_bytes + now * sizeof(record));
            std::memcpy(head + 4, &payload, sizeof payload);
            std::memcpy(head + 12, &count, sizeof count);
            make_room(block::events, head_bytes + payload);
            append(head);
            append(rest.first(now * sizeof(record)));
            // Records that were dropped are told once.
            std::memset(head + 16, 0, 8);
            rest = rest.subspan(now * sizeof(record));
            left -= now;
        }
    }

    const bool with_events_;
    block open_;
    std::vector<shared_block> all_;
};

}  // namespace

std::vector<shared_block> cut_chunks(std::span<const std::byte> chunks, bool with_events) {
    cutter to(with_events);
    while (chunks.size() >= head_bytes) {
        const bool header = std::memcmp(chunks.data(), capture_magic, 8) == 0;
        const std::size_t size =
            header ? capture_header_bytes : head_bytes + std::size_t{number_at(chunks, 4)};
        if (size > chunks.size()) break;  // not whole, which a recorder never hands over
        const auto first = chunks.first(size);
        const bool sound = number_at(first, 0) != tag_of("EVTS") || size >= events_head_bytes;
        if (header) {
            to.header(first);
        } else if (sound) {
            to.chunk(first);
        }
        chunks = chunks.subspan(size);
    }
    return to.take();
}

}  // namespace profile
BRAID_NAMESPACE_END
