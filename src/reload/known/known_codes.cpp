#include "reload/known/known_codes.hpp"

#include "braid/core/scheduler.hpp"
#include "reload/dwarf/places.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// Never freed: a thread may be in the signal handler at any time.
struct known_code {
    platform::image_place place;
    char module[64] = {}, build[64] = {}, file[512] = {};
    bool named = false;  // in a crash
    std::atomic<bool> stopped{false};
    known_code* next = nullptr;
};

namespace {

std::atomic<known_code*> first{nullptr};

template <std::size_t Size>
void copy(char (&to)[Size], const std::string& from) {
    std::snprintf(to, Size, "%s", from.c_str());
}

void let_one_run(known_code& one) {
    // relaxed: a second thread that comes here at once does the same.
    if (one.stopped.exchange(false, std::memory_order_relaxed)) {
        platform::set_executable(one.place, true);
    }
}

void let_all_run() {
    // acquire: pairs with known_codes::add().
    for (known_code* one = first.load(std::memory_order_acquire); one != nullptr; one = one->next) {
        let_one_run(*one);
    }
}

/// The newest that lies there.
known_code* code_at(std::uintptr_t address) {
    for (known_code* one = first.load(std::memory_order_acquire); one != nullptr; one = one->next) {
        if (address >= one->place.begin && address < one->place.end) return one;
    }
    return nullptr;
}

/// Takes memory and locks, although in a signal handler: what matters has been said, and the
/// process ends anyway.
void write_place(const known_code& code, std::uintptr_t address) {
    if (!platform::has_room_for_reading()) return;
    std::vector<std::byte> file;
    platform::file_mark mark;
    if (!platform::read_file(code.file, file, mark)) return;
    const std::string place = place_of(file, address - code.place.moved_by);
    if (!place.empty()) platform::write_error(("braid: it is " + place + "\n").c_str());
}

/// True: the code may be run now.
bool on_stale_call(known_code& code, std::uintptr_t address, std::uintptr_t from) {
    // A thread that ends calls the destructors of its thread-local objects, a process those of its
    // statics.
    if (platform::is_system_code(from)) {
        let_one_run(code);
        return true;
    }
    char text[512];
    std::snprintf(
        text, sizeof text,
        "braid: task '%s' has called code of module '%s', build %.12s, which was replaced; "
        "the pointer is older than the reload\n",
        this_task::name(), code.module, code.build);
    platform::write_error(text);
    write_place(code, address);
    return false;
}

known_code* stopped_code_at(std::uintptr_t address) {
    known_code* const code = code_at(address);
    // relaxed: the pages lost the right after the flag was set.
    const bool stopped = code != nullptr && code->stopped.load(std::memory_order_relaxed);
    return stopped ? code : nullptr;
}

bool on_call_without_right(std::uintptr_t address, std::uintptr_t from) {
    known_code* const code = stopped_code_at(address);
    return code != nullptr && on_stale_call(*code, address, from);
}

/// The innermost place in code of a module is what the thread was at, be it in a library's call.
void on_crash(const platform::crash& what) {
    for (const std::uintptr_t at : what.places) {
        const known_code* const code = code_at(at);
        if (code == nullptr || !code->named) continue;
        if (code->stopped.load(std::memory_order_relaxed)) return;  // that was said
        char text[512];
        std::snprintf(text, sizeof text,
                      "braid: task '%s' has crashed in code of module '%s', build %.12s, with "
                      "signal %d\n",
                      this_task::name(), code->module, code->build, what.signal);
        platform::write_error(text);
        write_place(*code, at);
        return;
    }
}

}  // namespace

known_codes::~known_codes() {
    for (known_code* one : all_) let_one_run(*one);
    for (const known_code* one : spare_) delete one;
}

void known_codes::reserve(std::size_t more) {
    all_.reserve(all_.size() + more);
    spare_.reserve(more);
    while (spare_.size() < more) spare_.push_back(new known_code);
}

void known_codes::add(const platform::image_place& place, const std::string& module,
                      const std::string& build_id, const std::string& file) noexcept {
    known_code* const one = spare_.back();
    spare_.pop_back();
    one->place = place;
    one->named = names_;
    copy(one->module, module);
    copy(one->build, build_id);
    copy(one->file, file);
    one->next = first.load(std::memory_order_relaxed);
    // release: pairs with code_at() and let_all_run(). Another modules object may add, too.
    while (!first.compare_exchange_weak(one->next, one, std::memory_order_release,
                                        std::memory_order_relaxed)) {
    }
    all_.push_back(one);
    if (!names_ && !stops_) return;
    platform::watch_faults(stops_ ? &on_call_without_right : nullptr, names_ ? &on_crash : nullptr);
}

known_code* known_codes::find(const platform::image_place& place) const noexcept {
    for (known_code* const one : all_) {
        if (one->place.begin == place.begin) return one;
    }
    return nullptr;
}

void known_codes::retire(const platform::image_place& place) noexcept {
    static const int at_the_end = std::atexit(let_all_run);
    static_cast<void>(at_the_end);
    if (!stops_) return;
    if (known_code* const one = find(place)) stop(*one);
}

void known_codes::stop_others(std::span<const platform::image_place> current) noexcept {
    for (known_code* const one : all_) {
        const bool runs = std::ranges::any_of(current, [one](const platform::image_place& place) {
            return place.begin == one->place.begin;
        });
        if (!runs) stop(*one);
    }
}

void known_codes::stop(known_code& one) noexcept {
    // relaxed: the change of the right orders it.
    one.stopped.store(true, std::memory_order_relaxed);
    platform::set_executable(one.place, false);
}

const char* stopped_build_at(std::uintptr_t address) noexcept {
    const known_code* const code = stopped_code_at(address);
    return code != nullptr ? code->build : nullptr;
}

void known_codes::let_run(const platform::image_place& place) noexcept {
    if (known_code* const one = find(place)) let_one_run(*one);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
