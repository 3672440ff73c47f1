#pragma once
// Frames in flight. Tracy takes a frame that begins before the end of another one of its name for a
// mistake, so those that overlap have names of their own: "frame", "frame 2".

#include "profile/tracy/places.hpp"

#include <cstdint>
#include <cstdio>
#include <mutex>

BRAID_NAMESPACE_BEGIN
namespace profile {

/// Of the whole program, as Tracy's names are; 64 at once. The lock is held while Tracy is told, so
/// that Tracy hears begins and ends in the order of this account; there are few frames a second.
class tracy_frames {
public:
    void begin(tracy_place_table& names, const void* owner, const char* name,
               std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        const tracy_place* const asked = names.of(name_or_frame(name), {});
        frame* const room = find([](const frame& f) { return f.owner == nullptr; });
        if (asked == nullptr || room == nullptr) return;
        const char* const shown = free_name(names, asked->body.name);
        if (shown == nullptr) return;
        *room = {owner, asked->body.name, number, shown};
        ___tracy_emit_frame_mark_start(shown);
    }
    void end(tracy_place_table& names, const void* owner, const char* name, std::uint64_t number) {
        const std::lock_guard lock(mutex_);
        const tracy_place* const asked = names.of(name_or_frame(name), {});
        if (asked == nullptr) return;
        frame* const f = find([&](const frame& one) {
            return one.owner == owner && one.name == asked->body.name && one.number == number;
        });
        if (f != nullptr) end(*f);
    }
    void end_all(const void* owner) {
        const std::lock_guard lock(mutex_);
        for (frame& f : frames_) {
            if (f.owner == owner) end(f);
        }
    }

private:
    struct frame {
        const void* owner = nullptr;  // null: none
        const char* name = nullptr;   // as Tracy keeps it
        std::uint64_t number = 0;
        const char* shown_as = nullptr;
    };

    static const char* name_or_frame(const char* name) {
        return name != nullptr && *name != '\0' ? name : "frame";
    }
    template <class Test>
    frame* find(Test&& test) {
        for (frame& f : frames_) {
            if (test(f)) return &f;
        }
        return nullptr;
    }
    /// The first of "frame", "frame 2", … that no frame has now. Null: no memory.
    const char* free_name(tracy_place_table& names, const char* name) {
        const char* shown = name;
        for (unsigned n = 2; find([&](const frame& f) { return f.shown_as == shown; }); ++n) {
            char text[256];
            std::snprintf(text, sizeof text, "%.240s %u", name, n);
            const tracy_place* const other = names.of(text, {});
            if (other == nullptr) return nullptr;
            shown = other->body.name;
        }
        return shown;
    }
    static void end(frame& f) {
        ___tracy_emit_frame_mark_end(f.shown_as);
        f = {};
    }

    std::mutex mutex_;
    frame frames_[64];
};

}  // namespace profile
BRAID_NAMESPACE_END
