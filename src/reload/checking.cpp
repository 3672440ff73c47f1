// The way of a file from "it changed" to code that waits for a frame boundary. All of it is
// background work.
#include "reload/module_state.hpp"
#include "reload/stamp/stamp.hpp"

#include <algorithm>
#include <cerrno>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

constexpr std::size_t most_refused = 64;

std::optional<std::string> read_stamp(const std::string& module) {
    std::vector<std::byte> bytes;
    platform::file_mark mark;
    if (!platform::read_file(stamp_path(module), bytes, mark)) return {};
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

}  // namespace

std::int64_t modules_state::now() const {
    return options.clock != nullptr ? options.clock(options.clock_user) : platform::monotonic_ns();
}

void modules_state::check(bool all) noexcept {
    try {
        const std::lock_guard one_at_a_time(checking);
        for (;;) {
            free_spent();
            const bool loaded = judge();
            std::vector<module_state*> dirty;
            {
                const std::lock_guard lock(mutex);
                for (const auto& one : list) {
                    module_state& m = *one->state_;
                    if (all || m.dirty) dirty.push_back(&m);
                    m.dirty = false;
                }
                all = false;
            }
            const bool any = loaded || !dirty.empty();
            if (!any || stopping.load(std::memory_order_relaxed)) return;
            for (module_state* m : dirty) look(*m);
            settle();
            plan_state();
        }
    } catch (...) {
        // relaxed: the flag is all that there is to say.
        out_of_memory.store(true, std::memory_order_relaxed);
        news.store(true, std::memory_order_relaxed);
        const std::lock_guard lock(mutex);
        for (const auto& one : list) one->state_->locked = true;
    }
}

void modules_state::look(module_state& m) {
    const lock_rules::verdict lock = m.lock.look(m.options.path, now(), options.lock_still.value);
    {
        const std::lock_guard guard(mutex);
        m.locked = lock == lock_rules::verdict::locked;
    }
    if (lock == lock_rules::verdict::locked) {
        m.written_since_ns.reset();
    } else {
        read_and_check(m, lock);
    }
}

void modules_state::read_and_check(module_state& m, lock_rules::verdict lock) {
    const std::string& path = m.options.path;
    std::vector<std::byte> bytes;
    platform::file_mark mark, after;
    const status read = platform::read_closed_file(path, bytes, mark);
    const std::optional<std::string> stamp = read_stamp(path);
    // Somebody has begun to write: another look follows.
    const bool moved = read.code == platform::changed_meanwhile ||
                       (read && (!platform::look_at(path, after) || after != mark));
    const bool begun = lock == lock_rules::verdict::open &&
                       platform::look_at_lock(lock_path(path)).owner != platform::lock_owner::none;
    if (moved || begun) return wait_for_writers(m, read.text);
    m.written_since_ns.reset();
    if (!read) {
        const std::lock_guard guard(mutex);
        // A build that removes its file writes it again.
        if (read.code == ENOENT && m.current != nullptr) return;
    }
    if (!read) return refuse(m, "", read.text);

    auto found = std::make_shared<live_code>();
    found->hash = hash_of(bytes);
    if (is_known(m, found->hash)) return;
    m.waiting = nullptr;
    host_side ours;
    ours.compare_types = m.options.compare_types;
    if (ours.compare_types) ours.types = host_types();
    {
        const std::lock_guard guard(mutex);
        ours.functions = m.wanted();
    }
    if (status went = check_module(bytes, stamp, ours, found->file); !went) {
        return refuse(m, found->hash, "'" + path + "' " + went.text);
    }
    {
        const std::lock_guard guard(mutex);
        if (m.current != nullptr && m.current->file.build_id == found->file.build_id) return;
        if (ours.compare_types && ours.types == nullptr && m.loads == 0) {
            found->remark = "; its types were not compared: the host has no debug information";
        }
    }
    if (lock == lock_rules::verdict::stale) found->remark += "; " + m.lock.remove(path);
    m.content = std::move(bytes);
    m.waiting = std::move(found);
}

/// Another look follows. A file that stays open is said once, or nobody would know why nothing
/// happens.
void modules_state::wait_for_writers(module_state& m, const std::string& why) {
    const std::int64_t since = m.written_since_ns.value_or(now());
    const bool is_time = now() - since >= options.lock_still.value && !why.empty();
    const std::lock_guard guard(mutex);
    m.locked = true;
    m.written_since_ns = since;
    if (!is_time) return;
    notes.push_back("module '" + m.options.name + "' is not reloaded yet, because " + why);
    m.written_since_ns = INT64_MAX;
    // relaxed: as in refuse().
    news.store(true, std::memory_order_relaxed);
}

bool modules_state::is_known(module_state& m, const std::string& hash) {
    if (m.waiting != nullptr && m.waiting->hash == hash) return true;
    const std::lock_guard guard(mutex);
    if (m.ready != nullptr && m.ready->hash == hash) return true;
    if (m.untried != nullptr && m.untried->hash == hash) return true;
    if (m.current != nullptr && m.current->hash == hash) {
        // What was on its way is no longer what the file says.
        drop_untried(m);
        m.ready = nullptr;
        m.waiting = nullptr;
        return true;
    }
    if (m.refused_by_state == hash) return true;
    m.refused_by_state.clear();
    return std::ranges::find(m.refused, hash) != m.refused.end();
}

void modules_state::refuse(module_state& m, const std::string& hash, const std::string& reason) {
    const std::lock_guard guard(mutex);
    if (hash.empty() && m.last_said == reason) return;
    const char* const goes_on = m.current != nullptr ? "the code before goes on" : "stubs run";
    std::string note =
        "module '" + m.options.name + "' was refused, and " + goes_on + ": " + reason;
    // What may fail for want of memory comes before the note, which is said once only.
    notes.reserve(notes.size() + 1);
    if (hash.empty()) {
        m.last_said = reason;
    } else {
        m.refused.push_back(hash);
        if (m.refused.size() > most_refused) m.refused.erase(m.refused.begin());
    }
    notes.push_back(std::move(note));
    // relaxed: the boundary takes the mutex before it looks at more.
    news.store(true, std::memory_order_relaxed);
}

debug_info* modules_state::host_types() {
    if (!host_read) {
        host_read = true;
        platform::file_mark mark;
        const std::string file = options.host.empty() ? platform::own_program() : options.host;
        auto own = std::make_unique<debug_info>();
        if (platform::read_file(file, host_bytes, mark) && own->open(host_bytes)) {
            host = std::move(own);
        }
    }
    return host.get();
}

std::string modules_state::difference_with_others(const module_state& m, const live_code& code,
                                                  bool with_waiting) const {
    for (const auto& one : list) {
        const module_state& other = *one->state_;
        const live_code* const theirs = with_waiting && other.waiting != nullptr
                                            ? other.waiting.get()
                                        : other.untried != nullptr ? other.untried.get()
                                        : other.ready != nullptr   ? other.ready.get()
                                                                   : other.current.get();
        if (&other == &m || theirs == nullptr) continue;
        std::string differs = difference(theirs->file.types, "module '" + other.options.name + "'",
                                         code.file.types, "'" + m.options.name + "'");
        if (!differs.empty()) return differs;
    }
    return "";
}

void modules_state::settle() {
    // All that wait together, or else each one that fits to the others as they are.
    std::vector<module_state*> waiting;
    for (module_state* m : all_states()) {
        if (m->waiting != nullptr) waiting.push_back(m);
    }
    const auto differs = [this](const module_state* m, bool with_waiting) {
        const std::lock_guard guard(mutex);
        return difference_with_others(*m, *m->waiting, with_waiting);
    };
    const bool together = std::ranges::all_of(
        waiting, [&](const module_state* m) { return differs(m, true).empty(); });
    std::vector<module_state*> fit;
    std::vector<std::shared_ptr<live_code>> codes;
    for (module_state* const m : waiting) {
        const std::string found = together ? "" : differs(m, false);
        if (found.empty()) {
            codes.push_back(copy_waiting(*m));
            fit.push_back(m);
        } else {
            refuse(*m, "",
                   "'" + m->options.path + "' sees a type otherwise: " + found +
                       "; it is taken when both are built anew");
        }
    }
    if (!is_tried_first(fit)) return take(fit, std::move(codes), together);
    const std::lock_guard guard(mutex);
    for (std::size_t i = 0; i < fit.size(); ++i) {
        if (codes[i] == nullptr) continue;
        drop_untried(*fit[i]);
        fit[i]->untried = std::move(codes[i]);
    }
    // relaxed: as in refuse().
    news.store(true, std::memory_order_relaxed);
}

void modules_state::take(std::span<module_state* const> of,
                         std::vector<std::shared_ptr<live_code>> codes, bool together) {
    bool all = true;
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (codes[i] != nullptr && !load_copy(*of[i], *codes[i])) codes[i] = nullptr;
        all = all && codes[i] != nullptr;
    }
    // One boundary takes all of them, or those that fit without the one that failed.
    const std::lock_guard guard(mutex);
    for (std::size_t i = 0; i < of.size(); ++i) {
        if (codes[i] == nullptr) continue;
        module_state& m = *of[i];
        if (together && !all && !difference_with_others(m, *codes[i], false).empty()) continue;
        m.bytes += codes[i]->code.bytes;
        m.ready = std::move(codes[i]);
        m.last_said.clear();
        // relaxed: as in refuse().
        news.store(true, std::memory_order_relaxed);
    }
}

status modules_state::copy(module_state& m, std::string& path) {
    if (folder.empty()) {
        if (status went = platform::make_folder(options.folder, folder); !went) return went;
    }
    // The same build once more gets a name of its own: its statics begin anew.
    const std::string& id = m.waiting->file.build_id;
    const int before = m.copies[id]++;
    path = folder + "/" + m.options.name + "." + id;
    if (before != 0) path.append(".").append(std::to_string(before + 1));
    path += ".so";
    return platform::write_file(path, m.content, platform::file_kind::code);
}

std::shared_ptr<live_code> modules_state::copy_waiting(module_state& m) {
    std::string path;
    const status copied = copy(m, path);
    std::shared_ptr<live_code> code = std::move(m.waiting);
    const std::vector<std::byte> content = std::move(m.content);
    if (!copied) {
        refuse(m, "", copied.text);
        return nullptr;
    }
    code->code.path = std::move(path);
    code->code.bytes = content.size();
    return code;
}

bool modules_state::load_copy(module_state& m, live_code& code) {
    const std::string path = code.code.path;
    const status went = load(path, code.file.exports, code.code);
    if (!went) {
        platform::remove_file(path);
        refuse(m, code.hash, "'" + m.options.path + "' cannot be loaded: " + went.text);
    }
    return static_cast<bool>(went);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
