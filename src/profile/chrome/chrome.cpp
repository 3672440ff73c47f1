// Trace events, one a line, written as they come: a whole document in memory would be many times
// the size of the capture. The library says texts and numbers; braces and commas are ours.
#include "profile/chrome/chrome.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr std::size_t flush_bytes = std::size_t{1} << 20;
/// JavaScript knows whole numbers up to here; those above are said as texts.
constexpr std::uint64_t most_exact = std::uint64_t{1} << 53;

std::string in_json(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class chrome_writer {
public:
    chrome_writer(const capture& from, const byte_sink& out)
        : timeline_(from), lanes_(static_cast<std::uint32_t>(from.lanes.size())), out_(out) {}

    bool write(const std::function<void(double)>& progress);

private:
    const capture& about() const { return timeline_.about(); }
    // Rows are threads to a reader. Frames lie above the lanes, what the system did below.
    std::uint32_t frame_row(std::uint32_t row) const { return 1 + row; }
    std::uint32_t lane_row(std::uint32_t lane) const { return 1 + timeline_.frame_rows() + lane; }
    std::uint32_t off_core_row(std::uint32_t lane) const { return lane_row(lane) + lanes_; }
    std::uint32_t row_of(const step& at) const;

    void begin_event(const char* phase, std::uint32_t row, std::uint64_t time);
    void name_rows();
    void name_row(const char* what, std::uint32_t row, const std::string& name);
    void take(const step& at);
    void say_name(const std::string& name);
    void say_number(std::uint64_t number);
    void arguments(const step& at);
    void arrows(const step& at);
    void counter(const step& at);
    void last_words();

    timeline timeline_;
    std::uint32_t lanes_;
    const byte_sink& out_;
    std::string buffer_;
    bool first_ = true;
    std::unordered_map<std::string, std::string> said_names_;
};

bool chrome_writer::write(const std::function<void(double)>& progress) {
    buffer_ = "{\"traceEvents\":[";
    name_rows();
    for (step at; timeline_.next(at);) {
        take(at);
        if (buffer_.size() < flush_bytes) continue;
        if (!out_(buffer_)) return false;
        buffer_.clear();
        if (progress) progress(timeline_.share());
    }
    last_words();
    return out_(buffer_);
}

std::uint32_t chrome_writer::row_of(const step& at) const {
    if (at.kind == step_kind::begin || at.kind == step_kind::end) {
        if (at.about == slice_kind::frame) return frame_row(at.row);
        if (at.about == slice_kind::off_core) return off_core_row(at.row);
    }
    return lane_row(at.row);
}

void chrome_writer::begin_event(const char* phase, std::uint32_t row, std::uint64_t time) {
    buffer_ += first_ ? "\n" : ",\n";
    first_ = false;
    (((buffer_ += "{\"ph\":\"") += phase) += "\",\"pid\":1,\"tid\":") += std::to_string(row);
    // In microseconds, with all three digits so that no nanosecond is lost.
    ((buffer_ += ",\"ts\":") += std::to_string(time / 1000)) += '.';
    buffer_ += std::to_string(1000 + time % 1000).substr(1);
}

void chrome_writer::say_name(const std::string& name) {
    const auto [at, added] = said_names_.try_emplace(name);
    if (added) at->second = in_json(name);
    buffer_ += ",\"name\":" + at->second;
}

void chrome_writer::say_number(std::uint64_t number) {
    const std::string digits = std::to_string(number);
    buffer_ += number <= most_exact ? digits : in_json(digits);
}

void chrome_writer::name_row(const char* what, std::uint32_t row, const std::string& name) {
    begin_event("M", row, 0);
    buffer_ += ",\"name\":\"" + std::string(what) + "\",\"args\":{\"name\":" + in_json(name) + "}}";
    if (row == 0) return;
    begin_event("M", row, 0);
    buffer_ +=
        ",\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":" + std::to_string(row) + "}}";
}

void chrome_writer::name_rows() {
    std::string program = "braid";
    for (const auto& [key, value] : about().info) {
        if (key == "program") program = value;
    }
    name_row("process_name", 0, program);
    for (std::uint32_t i = 0; i < timeline_.frame_rows(); ++i) {
        const std::string name = i == 0 ? "frames" : "frames " + std::to_string(i + 1);
        name_row("thread_name", frame_row(i), name);
    }
    for (std::uint32_t i = 0; i < lanes_; ++i) {
        const lane& l = about().lanes[i];
        name_row("thread_name", lane_row(i), l.name);
        const bool switches = std::any_of(l.records.begin(), l.records.end(), [](const record& r) {
            return r.kind == record_kind::switched_out || r.kind == record_kind::switched_in;
        });
        if (switches) name_row("thread_name", off_core_row(i), l.name + ", off its core");
    }
}

void chrome_writer::take(const step& at) {
    if (at.kind == step_kind::counter) return counter(at);
    // An arrow belongs to the slice that is open around it: it leaves before the end is said, and
    // arrives after the begin.
    if (at.kind != step_kind::begin) arrows(at);
    const char* phase = at.kind == step_kind::begin ? "B" : "E";
    begin_event(at.kind == step_kind::instant ? "i" : phase, row_of(at), at.time);
    if (at.kind == step_kind::instant) buffer_ += ",\"s\":\"t\"";
    if (at.kind != step_kind::end) say_name(timeline_.label(at));
    arguments(at);
    buffer_ += "}";
    if (at.kind == step_kind::begin) arrows(at);
}

void chrome_writer::arguments(const step& at) {
    const std::vector<detail>& all = timeline_.details(at);
    const record_type* const type = at.kind == step_kind::end ? nullptr : timeline_.type(at);
    const bool placed = type != nullptr && !type->file.empty();
    if (all.empty() && !placed) return;
    buffer_ += ",\"args\":{";
    const char* between = "\"";
    for (const detail& one : all) {
        ((buffer_ += between) += one.name) += "\":";
        between = ",\"";
        if (one.text.empty()) {
            say_number(one.number);
        } else {
            buffer_ += in_json(one.text);
        }
    }
    if (placed) {
        const std::string place = type->file + ":" + std::to_string(type->line);
        ((buffer_ += between) += "source\":") += in_json(place);
    }
    buffer_ += "}";
}

void chrome_writer::arrows(const step& at) {
    const bool leaves = at.kind != step_kind::begin;
    for (const flow& one : timeline_.flows(at)) {
        begin_event(leaves ? "s" : "f", row_of(at), at.time);
        if (!leaves) buffer_ += ",\"bp\":\"e\"";
        buffer_ += ",\"cat\":\"edge\",\"name\":\"edge\",\"id\":" + std::to_string(one.id) + "}";
    }
}

void chrome_writer::counter(const step& at) {
    const record& r = *at.from;
    const bool switches = r.kind == record_kind::switches;
    const auto value = std::bit_cast<double>(r.other);
    // JSON has no word for these. An instant at least says that one was there.
    const bool sayable = switches || std::isfinite(value);
    begin_event(sayable ? "C" : "i", lane_row(at.row), at.time);
    if (!sayable) {
        say_name(timeline_.label(at) + " is not a finite number");
        buffer_ += ",\"s\":\"t\"}";
    } else if (switches) {
        // Counters are told apart by process and name, not by row.
        say_name(about().lanes[at.row].name + ", switches");
        buffer_ += ",\"args\":{\"voluntary\":";
        say_number(r.other);
        buffer_ += ",\"involuntary\":" + std::to_string(r.aux) + "}}";
    } else {
        say_name(timeline_.label(at));
        buffer_ += ",\"args\":{\"value\":" + nlohmann::json(value).dump() + "}}";
    }
}

void chrome_writer::last_words() {
    buffer_ += "\n],\"displayTimeUnit\":\"ns\",\"otherData\":{\"began_at_ns\":\"" +
               std::to_string(about().began_at) + "\"";
    for (const auto& [key, value] : about().info) {
        (((buffer_ += ',') += in_json("info." + key)) += ':') += in_json(value);
    }
    buffer_ += "}}\n";
}

}  // namespace

bool write_chrome(const capture& from, const byte_sink& out,
                  const std::function<void(double)>& progress) {
    return chrome_writer(from, out).write(progress);
}

}  // namespace profile
BRAID_NAMESPACE_END
