#pragma once
// Which pages are in memory, which frame has used them, and which one gives way.

#include "braid/async/waiting_tasks.hpp"
#include "braid/pages/page_cache.hpp"
#include "pages/use_words.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace detail {

struct page_slot {
    static constexpr std::uint32_t none = UINT32_MAX;

    explicit page_slot(mutex& lock) : waiting(lock) {}

    atomic<page_stage> stage{page_stage::absent};  // changed under the lock
    atomic<std::uint64_t> used{0};                 // the last frame that did

    // Guarded by the cache's lock.
    std::uint64_t wanted = 0;  // the last frame in which it will be used
    std::uint64_t came = 0;  // the last frame that had ended when it came: what is new is no older
    std::uint64_t needed_by = UINT64_MAX;  // until it is resident: the earliest
    std::uint64_t listed_as = 0;           // in the list: the frame when it came to its place
    std::uint32_t before = none, next = none;
    std::uint32_t follower = none;  // was wanted right after it
    std::size_t bytes = 0;          // when it is resident
    std::size_t held = 0;           // of the budget
    page view;                      // good while resident
    std::byte* data = nullptr;      // of view
    std::byte* stored = nullptr;    // packed, until it is unpacked
    waiting_tasks waiting;          // for a stage, or for a budget
    task_id load;                   // has not ended; as want() has it
    std::uint64_t loads_ended = 0;
    task_id reading;  // its read is queued or flies
    std::int64_t asked_at = 0;
    std::uint64_t room_changes = 0;  // of the cache, when there was no room for it
    atomic<bool> ahead{false};       // nobody has wanted it yet; use() looks without the lock
    bool hurried = false;            // others need its room
    bool abandoned = false;          // its task has ended while another thread unpacked it
    bool damaged = false;            // it could not be unpacked
    bool is_named = false;           // in the log, as one that cannot be had
};

/// The caller of everything but use() and has_ended() has the lock.
class residency {
public:
    residency(runtime& rt, mutex& lock, std::uint32_t pages, std::size_t budget,
              unsigned frames_in_flight);
    ~residency();
    residency(const residency&) = delete;
    residency& operator=(const residency&) = delete;

    page_slot& operator[](std::uint32_t page) { return slots_[page]; }
    /// The number of pages; 0: there was no memory.
    std::uint32_t size() const { return size_; }

    /// Frames do not go back.
    void begin_frame(std::uint64_t frame);
    std::uint64_t frame() const { return frame_.load(relaxed); }
    /// Frame 0 is none, and over. relaxed: a frame's tasks come after its begin by an edge of the
    /// program's.
    bool has_ended(std::uint64_t frame) const {
        const std::uint64_t now = frame_.load(relaxed);
        return frame == 0 || (now >= frame && now - frame >= frames_in_flight_);
    }

    /// Takes no lock.
    page_usage use(std::uint32_t page, std::uint64_t frame) {
        return use_page(slots_[page].stage, slots_[page].used, frame);
    }

    /// Takes `bytes` of the budget for a page that is needed by `frame`. `give_back` is called with
    /// each page that gives way: the least recently used; then of those that are wanted for a later
    /// frame than `frame` the one that is wanted last.
    template <class F>
    bool reserve(std::uint32_t page, std::size_t bytes, std::uint64_t frame, F&& give_back);
    /// Gives some of it back.
    void release(std::uint32_t page, std::size_t bytes);
    /// Makes it resident.
    void enter(std::uint32_t page);

    /// What the frames in flight use or need, and `also`, in bytes.
    struct demand {
        std::size_t bytes;
        unsigned pages;
    };
    demand needed_now(std::uint32_t also);

    std::size_t held() const { return held_; }
    unsigned resident() const { return resident_; }

private:
    std::uint64_t last_frame_of(const page_slot& p) const {
        return std::max({p.used.load(relaxed), p.wanted, p.came});
    }
    void list(std::uint32_t page);
    void unlist(std::uint32_t page);
    std::uint32_t victim(std::uint64_t frame);
    std::uint32_t wanted_last(std::uint64_t frame) const;
    /// False: it is in use.
    bool try_to_leave(page_slot& p) {
        return let_page_leave(p.stage, p.used, [this](std::uint64_t f) { return has_ended(f); });
    }

    runtime& rt_;
    page_slot* const slots_;
    const std::uint32_t size_;
    const std::size_t budget_;
    const unsigned frames_in_flight_;
    atomic<std::uint64_t> frame_{0};
    std::size_t held_ = 0;
    unsigned resident_ = 0;
    // Resident pages in order of `listed_as`, which may be behind what they are used for.
    std::uint32_t first_ = page_slot::none, last_ = page_slot::none;
};

template <class F>
bool residency::reserve(std::uint32_t page, std::size_t bytes, std::uint64_t frame, F&& give_back) {
    if (bytes > budget_) return false;
    while (budget_ - held_ < bytes) {
        const std::uint32_t leaving = victim(frame);
        if (leaving == page_slot::none) return false;
        unlist(leaving);
        --resident_;
        give_back(leaving);
        slots_[leaving].stage.store(page_stage::absent, seq_cst);
    }
    held_ += bytes;
    slots_[page].held += bytes;
    return true;
}

}  // namespace detail
BRAID_NAMESPACE_END
