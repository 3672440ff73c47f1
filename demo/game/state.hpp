// Where the game keeps what it remembers: the host's arena, from which a reload with other layouts
// builds each object anew; or, where nothing can be reloaded, memory that stays as it is.
#pragma once

#ifdef ARENA_HAS_RELOAD

#include <braid/reload/arena.hpp>

namespace arena {
using game_state = braid::reload::arena;
}

#else

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace arena {

/// As much of braid::reload::arena as the game needs, with one root.
class game_state {
public:
    template <class T>
    T& root(const char* name) {
        if (name != name_) {
            root_ = make_array<T>(1).data();
            name_ = name;
        }
        return *static_cast<T*>(root_);
    }
    template <class T>
    T* find(const char* name) const {
        return name == name_ ? static_cast<T*>(root_) : nullptr;
    }
    template <class T>
    std::span<T> make_array(std::size_t count) {
        const auto made = std::make_shared<T[]>(count);
        all_.push_back(made);
        return {made.get(), count};
    }

private:
    std::vector<std::shared_ptr<void>> all_;
    void* root_ = nullptr;
    std::string_view name_;
};

}  // namespace arena

#endif
