#pragma once
// Counts what the whole program takes by operator new while somebody counts.

#include <cstdint>

namespace bench::async {

class counted_news {
public:
    counted_news();
    ~counted_news();
    counted_news(const counted_news&) = delete;
    counted_news& operator=(const counted_news&) = delete;

    /// Of all threads, since it was made.
    std::uint64_t count() const;
};

}  // namespace bench::async
