// Packets of a Perfetto trace, in order of time, all of one sequence so that names are said once.
#include "profile/perfetto/perfetto.hpp"

#include "profile/perfetto/fields.hpp"
#include "profile/perfetto/tracks.hpp"

#include <utf8.h>
#include <protozero/pbf_writer.hpp>

#include <bit>
#include <cmath>
#include <unordered_set>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

using protozero::pbf_writer;
using track_kind = track_numbers::kind;

/// Values of Perfetto's schema.
enum class event_type : std::int32_t { begin = 1, end = 2, instant = 3, counter = 4 };
enum class thread_state : std::int32_t { unknown = 0, runnable = 2, running = 3, sleeping = 4 };
constexpr std::uint32_t state_cleared = 1, needs_state = 2;
constexpr std::uint32_t clock_realtime = 1, clock_boottime = 6;
constexpr std::size_t flush_bytes = std::size_t{1} << 20;

/// A name in a trace is UTF-8, whatever it was in the program.
std::string whole_utf8(std::string_view text) { return utf8::replace_invalid(text); }

/// Texts that were said, by their numbers; 0 is none.
class interned_texts {
public:
    std::uint64_t find(const std::string& text, bool& is_new) {
        const auto [at, added] = numbers_.emplace(text, numbers_.size() + 1);
        is_new = added;
        return at->second;
    }

private:
    std::unordered_map<std::string, std::uint64_t> numbers_;
};

class perfetto_writer {
public:
    perfetto_writer(const capture& from, const byte_sink& out)
        : timeline_(from), tracks_(from), states_(from.lanes.size()), out_(out) {}

    bool write(const std::function<void(double)>& progress);

private:
    struct lane_state {
        bool seen = false;
        thread_state state = thread_state::unknown;
        std::uint16_t core = record::no_core;
    };

    pbf_writer packet() {
        pbf_writer to(trace_, field::trace::packet);
        to.add_uint32(field::packet::sequence, 1);
        to.add_uint32(field::packet::sequence_flags, first_ ? state_cleared : needs_state);
        first_ = false;
        return to;
    }
    const capture& about() const { return timeline_.about(); }

    void clock();
    void describe_all();
    void describe(std::uint64_t id, const std::string& name, std::uint64_t parent, bool counter);
    void describe_lane(std::uint32_t number);
    void take(const step& at);
    void event(const step& at, event_type type, std::uint64_t track);
    void counter(const step& at);
    void count(std::uint64_t time, std::uint64_t track, double value);
    void switched(const step& at);
    void state(const step& at, thread_state now, std::uint16_t core);
    void intern_name(pbf_writer& interned, pbf_writer& to, const std::string& name);
    void intern_source(pbf_writer& interned, pbf_writer& to, const record_type& type);
    void annotate(pbf_writer& interned, pbf_writer& to, const detail& one);

    timeline timeline_;
    track_numbers tracks_;
    std::vector<lane_state> states_;
    const byte_sink& out_;
    std::string buffer_;
    pbf_writer trace_{buffer_};
    bool first_ = true;
    interned_texts names_, annotations_, sources_;
    std::unordered_set<std::uint64_t> counters_;
};

bool perfetto_writer::write(const std::function<void(double)>& progress) {
    clock();
    describe_all();
    for (step at; timeline_.next(at);) {
        take(at);
        if (buffer_.size() < flush_bytes) continue;
        if (!out_(buffer_)) return false;
        buffer_.clear();
        if (progress) progress(timeline_.share());
    }
    return out_(buffer_);
}

void perfetto_writer::clock() {
    pbf_writer to = packet();
    to.add_uint64(field::packet::timestamp, 0);
    pbf_writer both(to, field::packet::clock_snapshot);
    const auto say = [&](std::uint32_t id, std::uint64_t time) {
        pbf_writer one(both, field::clocks::clock);
        one.add_uint32(field::clocks::clock_id, id);
        one.add_uint64(field::clocks::clock_time, time);
    };
    // Times are of the clock that Perfetto takes for granted, as if the machine had started then.
    say(clock_boottime, 0);
    say(clock_realtime, about().began_at);
}

void perfetto_writer::describe_all() {
    std::string program = "braid";
    for (const auto& [key, value] : about().info) {
        if (key == "program") program = value;
    }
    const std::uint64_t process = track_numbers::id(track_kind::process, 0);
    {
        pbf_writer to = packet();
        pbf_writer track(to, field::packet::track);
        track.add_uint64(field::track::id, process);
        track.add_string(field::track::name, whole_utf8(program));
        pbf_writer about_process(track, field::track::process);
        about_process.add_int32(field::process::number, tracks_.process());
        about_process.add_string(field::process::name, whole_utf8(program));
    }
    for (std::uint32_t i = 0; i < timeline_.frame_rows(); ++i) {
        const std::string name = i == 0 ? "frames" : "frames " + std::to_string(i + 1);
        describe(track_numbers::id(track_kind::frames, i), name, process, false);
    }
    for (std::uint32_t i = 0; i < about().lanes.size(); ++i) describe_lane(i);
}

void perfetto_writer::describe(std::uint64_t id, const std::string& name, std::uint64_t parent,
                               bool counter) {
    pbf_writer to = packet();
    pbf_writer track(to, field::packet::track);
    track.add_uint64(field::track::id, id);
    track.add_string(field::track::name, whole_utf8(name));
    track.add_uint64(field::track::parent, parent);
    // Empty, but there: a writer of its own would leave it out.
    if (counter) track.add_message(field::track::counter, "", 0);
}

void perfetto_writer::describe_lane(std::uint32_t number) {
    const std::uint64_t process = track_numbers::id(track_kind::process, 0);
    const std::uint64_t id = track_numbers::id(track_kind::lane, number);
    const std::string name = about().lanes[number].name;
    if (tracks_.thread(number) == 0) {
        describe(id, name, process, false);
    } else {
        pbf_writer to = packet();
        pbf_writer track(to, field::packet::track);
        track.add_uint64(field::track::id, id);
        track.add_string(field::track::name, whole_utf8(name));
        track.add_uint64(field::track::parent, process);
        pbf_writer thread(track, field::track::thread);
        thread.add_int32(field::thread::process, tracks_.process());
        thread.add_int32(field::thread::number, tracks_.thread(number));
        thread.add_string(field::thread::name, whole_utf8(name));
    }
    if (tracks_.has_off_core_row(number)) {
        const std::uint64_t row = track_numbers::id(track_kind::off_core, number);
        describe(row, name + ", off its core", process, false);
    }
}

void perfetto_writer::take(const step& at) {
    if (at.about == slice_kind::frame && at.kind <= step_kind::end) {
        const auto type = at.kind == step_kind::begin ? event_type::begin : event_type::end;
        return event(at, type, track_numbers::id(track_kind::frames, at.row));
    }
    lane_state& lane = states_[at.row];
    if (!lane.seen) {
        lane.seen = true;
        const std::uint16_t core = tracks_.first_core(at.row);
        const bool known = tracks_.has_states(at.row) && core != record::no_core;
        if (known) state(at, thread_state::running, core);
    }
    if (at.kind == step_kind::counter) return counter(at);
    const std::uint64_t track = track_numbers::id(track_kind::lane, at.row);
    if (at.kind == step_kind::instant) return event(at, event_type::instant, track);
    if (at.about == slice_kind::off_core) return switched(at);
    event(at, at.kind == step_kind::begin ? event_type::begin : event_type::end, track);
}

void perfetto_writer::intern_name(pbf_writer& interned, pbf_writer& to, const std::string& name) {
    bool is_new = false;
    const std::uint64_t number = names_.find(name, is_new);
    to.add_uint64(field::event::name, number);
    if (!is_new) return;
    pbf_writer said(interned, field::interned::event_name);
    said.add_uint64(field::interned::id, number);
    said.add_string(field::interned::text, whole_utf8(name));
}

void perfetto_writer::intern_source(pbf_writer& interned, pbf_writer& to, const record_type& type) {
    if (type.file.empty()) return;
    bool is_new = false;
    const std::string key = type.file + '\n' + std::to_string(type.line) + '\n' + type.name;
    const std::uint64_t number = sources_.find(key, is_new);
    to.add_uint64(field::event::source, number);
    if (!is_new) return;
    pbf_writer said(interned, field::interned::source);
    said.add_uint64(field::interned::id, number);
    said.add_string(field::interned::text, whole_utf8(type.file));
    said.add_string(field::interned::source_function, whole_utf8(type.name));
    said.add_uint32(field::interned::source_line, type.line);
}

void perfetto_writer::annotate(pbf_writer& interned, pbf_writer& to, const detail& one) {
    bool is_new = false;
    const std::uint64_t number = annotations_.find(one.name, is_new);
    if (is_new) {
        pbf_writer said(interned, field::interned::annotation_name);
        said.add_uint64(field::interned::id, number);
        said.add_string(field::interned::text, one.name);
    }
    pbf_writer note(to, field::event::annotation);
    note.add_uint64(field::annotation::name, number);
    if (one.text.empty()) {
        note.add_uint64(field::annotation::number, one.number);
    } else {
        note.add_string(field::annotation::text, whole_utf8(one.text));
    }
}

void perfetto_writer::event(const step& at, event_type type, std::uint64_t track) {
    std::string event_bytes, interned_bytes;
    pbf_writer to(event_bytes), interned(interned_bytes);
    to.add_enum(field::event::type, static_cast<std::int32_t>(type));
    to.add_uint64(field::event::track, track);
    if (type != event_type::end) {
        intern_name(interned, to, timeline_.label(at));
        const record_type* const source = timeline_.type(at);
        if (source != nullptr) intern_source(interned, to, *source);
    }
    for (const detail& one : timeline_.details(at)) annotate(interned, to, one);
    const auto way = type == event_type::begin ? field::event::flow_end : field::event::flow;
    for (const flow& one : timeline_.flows(at)) to.add_fixed64(way, one.id);

    pbf_writer all = packet();
    all.add_uint64(field::packet::timestamp, at.time);
    if (!interned_bytes.empty()) all.add_message(field::packet::interned, interned_bytes);
    all.add_message(field::packet::event, event_bytes);
}

void perfetto_writer::counter(const step& at) {
    const record& r = *at.from;
    if (r.kind == record_kind::counter) {
        const auto value = std::bit_cast<double>(r.other);
        const std::uint64_t track = track_numbers::id(track_kind::counter, r.aux);
        if (counters_.insert(track).second) {
            const std::uint64_t process = track_numbers::id(track_kind::process, 0);
            describe(track, timeline_.label(at), process, true);
        }
        return count(at.time, track, value);
    }
    const std::uint64_t voluntary = track_numbers::id(track_kind::voluntary, at.row);
    const std::uint64_t involuntary = track_numbers::id(track_kind::involuntary, at.row);
    if (counters_.insert(voluntary).second) {
        const std::uint64_t process = track_numbers::id(track_kind::process, 0);
        const std::string& lane = about().lanes[at.row].name;
        describe(voluntary, lane + ", voluntary switches", process, true);
        describe(involuntary, lane + ", involuntary switches", process, true);
    }
    count(at.time, voluntary, static_cast<double>(r.other));
    count(at.time, involuntary, static_cast<double>(r.aux));
}

void perfetto_writer::count(std::uint64_t time, std::uint64_t track, double value) {
    pbf_writer all = packet();
    all.add_uint64(field::packet::timestamp, time);
    pbf_writer to(all, field::packet::event);
    to.add_enum(field::event::type, static_cast<std::int32_t>(event_type::counter));
    to.add_uint64(field::event::track, track);
    to.add_double(field::event::value, value);
}

void perfetto_writer::switched(const step& at) {
    const bool begins = at.kind == step_kind::begin;
    if (!tracks_.has_states(at.row)) {
        const std::uint64_t row = track_numbers::id(track_kind::off_core, at.row);
        return event(at, begins ? event_type::begin : event_type::end, row);
    }
    // Nothing says that it came back.
    if ((at.cut & cut_end) != 0) return;
    lane_state& lane = states_[at.row];
    if ((at.cut & cut_begin) != 0) {
        // Running twice in a row is an error there. On another core it must have been off
        // meanwhile; otherwise nothing is new.
        const bool moved = lane.state == thread_state::running && lane.core != at.from->core;
        if (begins && moved) state(at, thread_state::runnable, lane.core);
        if (!begins && lane.state != thread_state::running) {
            state(at, thread_state::running, at.from->core);
        }
        return;
    }
    if (!begins) return state(at, thread_state::running, at.from->core);
    const bool wants_on = (at.from->flags & switch_preempted) != 0;
    const std::uint16_t core = lane.core != record::no_core ? lane.core : at.from->core;
    state(at, wants_on ? thread_state::runnable : thread_state::sleeping, core);
}

void perfetto_writer::state(const step& at, thread_state now, std::uint16_t core) {
    states_[at.row].state = now;
    states_[at.row].core = core;
    pbf_writer all = packet();
    all.add_uint64(field::packet::timestamp, at.time);
    pbf_writer to(all, field::packet::thread_state);
    // Also where the thread leaves: that is how its slice on the core is found.
    if (core != record::no_core) to.add_int32(field::thread_state::core, core);
    to.add_string(field::thread_state::name, whole_utf8(about().lanes[at.row].name));
    to.add_int64(field::thread_state::thread, tracks_.thread(at.row));
    to.add_enum(field::thread_state::state, static_cast<std::int32_t>(now));
}

}  // namespace

bool write_perfetto(const capture& from, const byte_sink& out,
                    const std::function<void(double)>& progress) {
    return perfetto_writer(from, out).write(progress);
}

}  // namespace profile
BRAID_NAMESPACE_END
