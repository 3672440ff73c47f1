#include "reload/barrier/barrier.hpp"

#include "reload/platform/platform.hpp"

#include <cstring>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// How long everything goes on between the first look and the second. Twice as long after each: a
/// thread of the background class may need some ms until it runs at all.
constexpr std::int64_t first_pause_ns = 250'000, longest_pause_ns = 50'000'000;

template <std::size_t Size>
void copy(char (&to)[Size], const char* from) {
    std::strncpy(to, from, Size - 1);
    to[Size - 1] = '\0';
}

/// Such a holder calls the code again and again, until the program takes it away.
bool stays(code_use use) {
    return use != code_use::task && use != code_use::stack && use != code_use::job &&
           use != code_use::queued;
}

}  // namespace

void barrier::note(const held_code& what) {
    stays_ = stays_ || stays(what.use);
    if (cancels_) rest_->cancel(what);
    if (count_ < most_named) {
        holder& h = named_[count_];
        h.use = what.use;
        copy(h.name, what.name);
        copy(h.thread, what.thread);
        h.address = what.address;
        h.piece = piece_;
    }
    ++count_;
    if (piece_ < most_pieces) ++held_[piece_];
}

void barrier::look(std::span<const replaced_code> codes) {
    count_ = 0;
    std::fill(std::begin(held_), std::end(held_), 0);
    for (piece_ = 0; piece_ < codes.size(); ++piece_) {
        cancels_ = codes[piece_].cancels;
        rest_->holders(
            codes[piece_].range,
            [](void* self, const held_code& what) { static_cast<barrier*>(self)->note(what); },
            this);
    }
}

bool barrier::come_to_rest(nanoseconds within) {
    const profile::scope until("reload: until everything rests", {});
    rest_.emplace(scheduler_, within);
    awake_ = rest_->awake();
    return rest_->reached();
}

bool barrier::reach(std::span<const replaced_code> codes, nanoseconds within) {
    const std::int64_t begun = platform::monotonic_ns();
    const std::int64_t most = std::max<std::int64_t>(within.value, 0);
    for (std::int64_t pause = first_pause_ns;; pause = std::min(2 * pause, longest_pause_ns)) {
        const std::int64_t used = platform::monotonic_ns() - begun;
        if (!come_to_rest(nanoseconds{std::max<std::int64_t>(most - used, 0)})) break;
        pause_.emplace("reload: pause", std::source_location{});
        look(codes);
        if (count_ == 0) return true;
        if (stays_) break;
        go_on();
        const std::int64_t left = most - (platform::monotonic_ns() - begun);
        if (left <= 0) break;
        safepoint::let_run(scheduler_, nanoseconds{std::min(left, pause)});
    }
    go_on();
    return false;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
