// The way back: for some frames after a reload the code before, and the state that it had, may come
// back at a boundary.
#include "reload/way_back/way_back.hpp"

#include "reload/module_state.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

void modules_state::ask_back(std::string why, const module_state* from) {
    const std::lock_guard guard(mutex);
    const auto is_new = [from](const way_back::one& one) { return one.of == from; };
    // An exception of code that has been here for longer is nothing that a way back would mend.
    if (from != nullptr && (back == nullptr || std::ranges::none_of(back->codes, is_new))) return;
    if (back == nullptr) {
        notes.push_back("modules cannot go back: there is nothing to go back to");
    } else if (back_asked.empty()) {
        back_asked = std::move(why);
    }
    // relaxed: the boundary takes the mutex before it looks at more.
    news.store(true, std::memory_order_relaxed);
}

bool modules_state::follow_way_back(outcome& went, barrier& rest, replacement& all) {
    std::string why;
    {
        const std::lock_guard guard(mutex);
        if (back == nullptr) return false;
        ++back->frames;
        why = back_asked;
    }
    if (why.empty()) why = broken_invariant();
    if (!why.empty()) return go_back(went, rest, all, why);
    if (back->frames >= options.keep_frames) {
        const std::lock_guard guard(mutex);
        spent.push_back(std::move(back));
    }
    return false;
}

std::string modules_state::way_back_text(const std::string& why) const {
    std::string text;
    for (const way_back::one& one : back->codes) {
        text += text.empty() ? "Module '" : "; module '";
        text += one.of->options.name + "' went back to build " +
                one.code->file.build_id.substr(0, 12) + " from " +
                one.of->current->file.build_id.substr(0, 12);
    }
    text += ", because " + why;
    const std::string frames =
        std::to_string(back->frames) + (back->frames == 1 ? " frame" : " frames");
    return text + (back->state != nullptr
                       ? "; the state is that of before it, and what " + frames + " did is lost."
                       : "; the state stays as " + frames + " left it.");
}

/// True: this boundary has done enough.
bool modules_state::go_back(outcome& went, barrier& rest, replacement& all,
                            const std::string& why) {
    all = find_replacement([this](const module_state& m) {
        return std::ranges::any_of(back->codes,
                                   [&](const way_back::one& one) { return one.of == &m; });
    });
    if (!rest.reach(all.codes, all.within)) {
        std::string held = text_of(rest, all, 0);
        const std::lock_guard guard(mutex);
        if (!back->said)
            notes.push_back("modules cannot go back yet, although " + why + ": " + held);
        back->said = true;
        return false;
    }
    const std::lock_guard guard(mutex);
    std::string text = way_back_text(why);
    std::vector<call_target> targets;
    for (const way_back::one& one : back->codes) {
        one.of->find_targets(one.code->code, targets);
        one.of->refused.push_back(one.of->current->hash);
    }
    spent.reserve(spent.size() + 1);
    // Nothing below fails for want of memory.
    if (back->state != nullptr) back->state->moved.take_back();
    for (way_back::one& one : back->codes) {
        known.let_run(one.code->code.place);
        one.of->current.swap(one.code);
    }
    // release: pairs with the acquire of a call.
    for (const call_target& one : targets) {
        one.of->target.store(one.function, std::memory_order_release);
    }
    retire(all, rest);
    went.loaded_ = went.rolled_back_ = static_cast<unsigned>(back->codes.size());
    went.text_ = std::move(text);
    spent.push_back(std::move(back));
    back_asked.clear();
    // relaxed: as in cross(). What is ready is for the next boundary.
    news.store(true, std::memory_order_relaxed);
    return true;
}

/// Old state is freed where no frame waits for it.
void modules_state::free_spent() {
    std::vector<std::unique_ptr<way_back>> own;  // ends after the lock
    const std::lock_guard guard(mutex);
    own.swap(spent);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
