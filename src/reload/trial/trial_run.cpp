#include "reload/trial/trial_run.hpp"

#include "reload/known/known_codes.hpp"

#include <algorithm>
#include <exception>

BRAID_NAMESPACE_BEGIN
namespace reload {
namespace detail {
namespace {

trial_run* the_one = nullptr;  // of this process

template <std::size_t Size>
void copy(char (&to)[Size], std::string_view from) {
    const std::size_t length = std::min(from.size(), Size - 1);
    std::copy_n(from.begin(), length, to);
    to[length] = '\0';
}

void send(trial_run& of) { of.to.send(std::as_bytes(std::span(&of.last, 1))); }

}  // namespace

trial_run::trial_run(platform::child_process& host, const trial_options& wish)
    : to(host), options(wish), tasks({.name = "trial", .workers = 0, .background_threads = 0}) {}

void trial_run::begin(std::span<const std::string> files) {
    tried = files;
    the_one = this;
    platform::report_crashes([](const platform::crash& what) { the_one->crashed(what); },
                             options.within.value);
}

void trial_run::enter(trial_step step) {
    last.step = step;
    send(*this);
}

void trial_run::fail(trial_end how, std::string_view why) {
    if (failed()) return;
    last.end = how;
    copy(last.text, why);
    send(*this);
}

bool trial_run::call(const trial_function& frame) {
    trial shown(*this);
    for (last.frame = 0; last.frame < options.frames && !failed(); ++last.frame) {
        enter(trial_step::frame);
        try {
            frame(shown);
        } catch (const std::exception& thrown) {
            fail(trial_end::threw, thrown.what());
        } catch (...) {
            fail(trial_end::threw, "no std::exception");
        }
    }
    return !failed();
}

void trial_run::pass() {
    if (!failed()) {
        last.end = trial_end::passed;
        send(*this);
    }
    platform::child_process::leave();
}

/// Allocates nothing: the heap may be what is at fault.
void trial_run::crashed(const platform::crash& what) {
    last.end = what.signal == 0                          ? trial_end::called_exit
               : what.signal == platform::signal_of_time ? trial_end::late
                                                         : trial_end::crashed;
    last.number = what.signal == 0 ? what.exit_code : what.signal;
    last.address = what.address;
    const char* const build = what.places.empty() ? nullptr : stopped_build_at(what.places.front());
    if (last.end == trial_end::crashed && build != nullptr) {
        last.end = trial_end::stale_call;
        copy(last.text, build);
    }
    // The innermost place in the code that is tried, or else in any that is not the system's.
    bool is_tried = false;
    for (const std::uintptr_t at : what.places) {
        const platform::code_file in = platform::code_file_at(at);
        if (in.path == nullptr) continue;
        const std::string_view path = in.path;
        is_tried = std::ranges::find(tried, path) != tried.end();
        if (!is_tried && (last.place != 0 || platform::is_system_code(at))) continue;
        last.place = at - in.moved_by;
        copy(last.file, path);
        if (is_tried) break;
    }
    send(*this);
}

}  // namespace detail

scheduler& trial::tasks() const { return run_.tasks; }
unsigned trial::frame() const { return run_.last.frame; }
void trial::fail(std::string_view why) { run_.fail(detail::trial_end::failed, why); }

}  // namespace reload
BRAID_NAMESPACE_END
