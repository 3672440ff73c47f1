#include "braid/reload/arena.hpp"

#include "reload/module_state.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload {

arena::arena(modules& of) : calls_(&detail::calls_of_arenas), state_(nullptr) {
    auto own = std::make_unique<detail::arena_state>();
    own->owner = of.state_.get();
    const std::lock_guard guard(own->owner->mutex);
    own->owner->arenas.push_back(own.get());
    state_ = own.release();
}

arena::~arena() {
    {
        const std::lock_guard guard(state_->owner->mutex);
        std::erase(state_->owner->arenas, state_);
        // What this arena had before the last reload was for it alone.
        auto& back = state_->owner->back;
        const bool has_old_state =
            back != nullptr && back->state != nullptr && back->state->moved.concerns(*state_);
        if (has_old_state) back = nullptr;
    }
    state_->destroy_objects();
    delete state_;
}

std::size_t arena::objects() const {
    const std::lock_guard guard(state_->mutex);
    std::size_t count = 0;
    state_->memory.for_each([&count](const detail::allocation&) { ++count; });
    return count;
}

std::size_t arena::bytes() const {
    const std::lock_guard guard(state_->mutex);
    std::size_t bytes = 0;
    state_->memory.for_each([&bytes](const detail::allocation& a) { bytes += a.bytes; });
    return bytes;
}

}  // namespace reload
BRAID_NAMESPACE_END
