#include "reload/trial/trial_message.hpp"

#include "reload/dwarf/places.hpp"

#include <csignal>
#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

std::string when(const trial_message& last) {
    switch (last.step) {
        case trial_step::load:
            return "while it was loaded";
        case trial_step::state:
            return "while the state went over";
        case trial_step::reloaded:
            return "in reloaded()";
        case trial_step::frame:
            return "in frame " + std::to_string(last.frame);
        default:
            return "after the last frame";
    }
}

std::string where(const trial_message& last) {
    std::vector<std::byte> file;
    platform::file_mark mark;
    if (last.place == 0 || !platform::read_file(last.file, file, mark)) return "";
    const std::string place = place_of(file, last.place);
    return place.empty() ? "" : ", in " + place;
}

std::string address_text(const trial_message& last) {
    if (last.number != SIGSEGV && last.number != SIGBUS) return "";
    char text[32];
    std::snprintf(text, sizeof text, ", address 0x%llx",
                  static_cast<unsigned long long>(last.address));
    return text;
}

}  // namespace

std::string text_of(const trial_message& last, const platform::process_end& how,
                    nanoseconds within) {
    switch (last.end) {
        case trial_end::failed:
            return "its trial failed " + when(last) + ": " + last.text;
        case trial_end::threw:
            return "its trial threw an exception " + when(last) + ": " + last.text;
        case trial_end::crashed:
            return "its trial ended " + when(last) + " with " + platform::signal_name(last.number) +
                   where(last) + address_text(last);
        case trial_end::stale_call:
            return "its trial called code of build " + std::string(last.text).substr(0, 12) +
                   ", which was replaced, " + when(last) + where(last) +
                   "; the pointer is older than the reload";
        case trial_end::late:
            return "its trial was not done after " + std::to_string(within.value / 1'000'000) +
                   " ms, " + when(last) + where(last);
        case trial_end::called_exit:
            return "its trial called exit(" + std::to_string(last.number) + ") " + when(last);
        case trial_end::no_memory:
            return "there was no memory for its trial";
        default:
            break;
    }
    if (how.signal == SIGKILL) {
        return "its trial was killed " + when(last) + ", perhaps for want of memory";
    }
    if (how.signal != 0) {
        return "its trial ended " + when(last) + " with " + platform::signal_name(how.signal);
    }
    return "its trial ended the process " + when(last) + ", with exit code " +
           std::to_string(how.exit_code);
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
