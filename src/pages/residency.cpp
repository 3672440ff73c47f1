#include "pages/residency.hpp"

#include "braid/frame/command_buffer.hpp"  // frame_allocate()

#include <new>

BRAID_NAMESPACE_BEGIN
namespace detail {

residency::residency(runtime& rt, mutex& lock, std::uint32_t pages, std::size_t budget,
                     unsigned frames_in_flight)
    : rt_(rt),
      slots_(static_cast<page_slot*>(
          frame_allocate(rt, pages * sizeof(page_slot), alignof(page_slot)))),
      size_(slots_ != nullptr ? pages : 0),
      budget_(budget),
      frames_in_flight_(frames_in_flight) {
    for (std::uint32_t i = 0; i < size_; ++i)
        ::new (static_cast<void*>(slots_ + i)) page_slot(lock);
}

residency::~residency() {
    for (std::uint32_t i = 0; i < size_; ++i) slots_[i].~page_slot();
    if (slots_ != nullptr) {
        frame_release(rt_, slots_, size_ * sizeof(page_slot), alignof(page_slot));
    }
}

void residency::begin_frame(std::uint64_t frame) {
    if (frame > frame_.load(relaxed)) frame_.store(frame, relaxed);  // see has_ended()
}

void residency::release(std::uint32_t page, std::size_t bytes) {
    held_ -= bytes;
    slots_[page].held -= bytes;
}

void residency::enter(std::uint32_t page) {
    const std::uint64_t now = frame();
    slots_[page].came = now > frames_in_flight_ ? now - frames_in_flight_ : 0;
    list(page);
    ++resident_;
    let_page_enter(slots_[page].stage);
}

void residency::list(std::uint32_t page) {
    page_slot& p = slots_[page];
    p.listed_as = last_frame_of(p);
    std::uint32_t at = last_;
    while (at != page_slot::none && slots_[at].listed_as > p.listed_as) at = slots_[at].before;
    p.before = at;
    p.next = at == page_slot::none ? first_ : slots_[at].next;
    (at == page_slot::none ? first_ : slots_[at].next) = page;
    (p.next == page_slot::none ? last_ : slots_[p.next].before) = page;
}

void residency::unlist(std::uint32_t page) {
    page_slot& p = slots_[page];
    (p.before == page_slot::none ? first_ : slots_[p.before].next) = p.next;
    (p.next == page_slot::none ? last_ : slots_[p.next].before) = p.before;
    p.before = p.next = page_slot::none;
}

/// None: all of them are needed.
std::uint32_t residency::victim(std::uint64_t frame) {
    // Each comes to its right place once; the first that has it already is the oldest.
    for (unsigned moves = 0; first_ != page_slot::none && moves <= resident_; ++moves) {
        const std::uint32_t oldest = first_;
        page_slot& p = slots_[oldest];
        if (last_frame_of(p) == p.listed_as) {
            if (!has_ended(p.listed_as)) break;
            if (try_to_leave(p)) return oldest;
        }
        unlist(oldest);
        list(oldest);
    }
    while (true) {
        const std::uint32_t last = wanted_last(std::max(frame, this->frame()));
        // Somebody may begin to use it now.
        if (last == page_slot::none || try_to_leave(slots_[last])) return last;
    }
}

/// A page that is wanted after `frame` and not in use. Its place in the list may be an older one.
std::uint32_t residency::wanted_last(std::uint64_t frame) const {
    std::uint32_t found = page_slot::none;
    for (std::uint32_t at = first_; at != page_slot::none; at = slots_[at].next) {
        const page_slot& p = slots_[at];
        if (p.wanted <= frame || !has_ended(p.used.load(relaxed))) continue;  // to be asked again
        if (found == page_slot::none || p.wanted > slots_[found].wanted) found = at;
    }
    return found;
}

residency::demand residency::needed_now(std::uint32_t also) {
    demand sum{};
    for (std::uint32_t i = 0; i < size_; ++i) {
        const page_slot& p = slots_[i];
        const page_stage stage = p.stage.load(relaxed);
        const bool in_use = stage == page_stage::resident && !has_ended(p.used.load(relaxed));
        const bool wanted =
            stage != page_stage::absent && !has_ended(p.wanted) &&
            (stage == page_stage::resident ? p.wanted : p.needed_by) <= this->frame();
        if (i != also && !in_use && !wanted) continue;
        sum.bytes += p.bytes;
        ++sum.pages;
    }
    return sum;
}

}  // namespace detail
BRAID_NAMESPACE_END
