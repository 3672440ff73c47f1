// Any bytes: a capture is read or refused, and what was read is exported, without harm and with
// slices that nest. scripts/fuzz.sh builds and runs it.
#include "profile/chrome/chrome.hpp"
#include "profile/perfetto/perfetto.hpp"

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <map>

namespace {

namespace profile = braid::profile;

void require(bool claim) {
    if (!claim) std::abort();
}

void check_steps(const profile::capture& from) {
    profile::timeline told(from);
    std::map<std::tuple<bool, bool, std::uint32_t>, std::vector<std::uint32_t>> open;
    std::map<std::uint64_t, int> arrows;
    std::uint64_t last = 0;
    for (profile::step at; told.next(at);) {
        require(at.time >= last);
        last = at.time;
        for (const profile::flow& one : told.flows(at)) {
            require(++arrows[one.id] <= 2);
        }
        if (at.kind > profile::step_kind::end) continue;
        auto& row = open[{at.about == profile::slice_kind::frame,
                          at.about == profile::slice_kind::off_core, at.row}];
        if (at.kind == profile::step_kind::begin) {
            row.push_back(at.slice);
        } else {
            require(!row.empty() && row.back() == at.slice);
            row.pop_back();
        }
    }
    for (const auto& [row, slices] : open) require(slices.empty());
    for (const auto& [id, ends] : arrows) require(ends == 2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    profile::capture read;
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    if (!profile::read_capture(bytes, read)) {
        require(read.lanes.empty() && read.types.empty());
        return 0;
    }
    check_steps(read);
    std::string trace, json;
    require(profile::write_perfetto(read, [&](std::string_view more) {
        trace += more;
        return true;
    }));
    require(profile::write_chrome(read, [&](std::string_view more) {
        json += more;
        return true;
    }));
    require(nlohmann::json::accept(json));
    return 0;
}
