// Reads the chunks of a capture. Nothing in the file is believed before it is looked at: it may be
// cut off, foreign or made to harm.
#include "profile/capture_writer.hpp"

#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

/// The payload of a chunk, from the front. What is not there reads as 0, and `short_of` says so.
class payload {
public:
    explicit payload(std::span<const std::byte> bytes) : bytes_(bytes) {}

    template <class T>
    T take() {
        T value{};
        if (!has(sizeof value)) return value;
        std::memcpy(&value, bytes_.data(), sizeof value);
        bytes_ = bytes_.subspan(sizeof value);
        return value;
    }
    std::string text(std::size_t size) {
        if (!has(size)) return {};
        std::string found(reinterpret_cast<const char*>(bytes_.data()), size);
        bytes_ = bytes_.subspan(size);
        return found;
    }
    bool has(std::size_t size) {
        short_of = short_of || size > bytes_.size();
        return !short_of;
    }
    std::span<const std::byte> rest() const { return bytes_; }

    bool short_of = false;

private:
    std::span<const std::byte> bytes_;
};

class reader {
public:
    explicit reader(capture& to) : to_(to) { to_.types.emplace_back(); }

    /// Null, or what is wrong.
    const char* chunk(std::uint32_t tag, payload from);
    bool done = false;
    std::uint64_t last = 0;

private:
    const char* strings(payload& from);
    const char* types(payload& from);
    const char* lane_about(payload& from);
    const char* records(payload& from);
    const char* info(payload& from);
    /// Null: there is no such string, or a small file asks for more text than any recorder writes.
    const std::string* string(std::uint32_t number) {
        constexpr std::size_t most_text = std::size_t{1} << 28;
        if (number >= strings_.size()) return nullptr;
        text_ += strings_[number].size();
        return text_ <= most_text ? &strings_[number] : nullptr;
    }

    capture& to_;
    std::vector<std::string> strings_ = {""};
    std::size_t text_ = 0;  // copied so far
};

const char* reader::chunk(std::uint32_t tag, payload from) {
    const char* wrong = nullptr;
    if (tag == tag_of("STRS")) wrong = strings(from);
    if (tag == tag_of("TYPE")) wrong = types(from);
    if (tag == tag_of("LANE")) wrong = lane_about(from);
    if (tag == tag_of("EVTS")) wrong = records(from);
    if (tag == tag_of("INFO")) wrong = info(from);
    if (tag == tag_of("CLCK")) {
        const auto ticks = from.take<std::uint64_t>();
        to_.clocks.push_back({ticks, from.take<std::uint64_t>()});
    }
    if (tag == tag_of("DONE")) {
        to_.duration = from.take<std::uint64_t>();
        done = true;
    }
    if (wrong == nullptr && from.short_of) return "a chunk is shorter than what it holds";
    return wrong;
}

const char* reader::strings(payload& from) {
    const auto first = from.take<std::uint32_t>();
    const auto count = from.take<std::uint32_t>();
    if (first != strings_.size()) return "strings are not numbered in order";
    for (std::uint32_t i = 0; i < count && !from.short_of; ++i) {
        strings_.push_back(from.text(from.take<std::uint32_t>()));
    }
    return nullptr;
}

const char* reader::types(payload& from) {
    const auto first = from.take<std::uint32_t>();
    const auto count = from.take<std::uint32_t>();
    if (first != to_.types.size()) return "types are not numbered in order";
    for (std::uint32_t i = 0; i < count && from.has(16); ++i) {
        const std::string* const name = string(from.take<std::uint32_t>());
        const std::string* const file = string(from.take<std::uint32_t>());
        const auto line = from.take<std::uint32_t>();
        from.take<std::uint32_t>();
        if (name == nullptr || file == nullptr) return "a type has a name that is not there";
        to_.types.push_back({*name, *file, line});
    }
    return nullptr;
}

const char* reader::lane_about(payload& from) {
    const auto number = from.take<std::uint32_t>();
    const std::string* const name = string(from.take<std::uint32_t>());
    const auto kind = from.take<std::uint32_t>();
    const auto seat = from.take<std::uint32_t>();
    const auto thread = from.take<std::uint64_t>();
    if (name == nullptr) return "a lane has a name that is not there";
    if (kind > static_cast<std::uint32_t>(lane_kind::device)) return "a lane is of no known kind";
    // Told again when more is known of it, such as its name.
    if (number > to_.lanes.size()) return "lanes are not numbered in order";
    if (number == to_.lanes.size()) to_.lanes.emplace_back();
    lane& l = to_.lanes[number];
    l.name = *name;
    l.kind = static_cast<lane_kind>(kind);
    l.seat = seat;
    l.thread = thread;
    // Recorders before did not tell it.
    if (from.rest().size() < 8) return nullptr;
    const auto level = from.take<std::uint32_t>();
    constexpr auto most = static_cast<std::uint32_t>(switch_level::exact) + 1;
    if (level != 0 && level <= most) l.switches = static_cast<switch_level>(level - 1);
    l.clock_error = from.take<std::uint32_t>();
    return nullptr;
}

const char* reader::records(payload& from) {
    const auto number = from.take<std::uint32_t>();
    const auto count = from.take<std::uint32_t>();
    const auto dropped = from.take<std::uint64_t>();
    if (number >= to_.lanes.size()) return "records are of a lane that is not there";
    if (!from.has(std::size_t{count} * sizeof(record))) return nullptr;
    lane& l = to_.lanes[number];
    l.dropped += dropped;
    const std::size_t before = l.records.size();
    l.records.resize(before + count);
    if (count != 0) {
        std::memcpy(l.records.data() + before, from.rest().data(), count * sizeof(record));
    }
    for (std::size_t i = before; i < l.records.size(); ++i) {
        const record& r = l.records[i];
        if (i != 0 && r.time < l.records[i - 1].time) return "records are not in order of time";
        last = std::max(last, r.time);
        const bool typed = r.kind == record_kind::spawned || r.kind == record_kind::started ||
                           r.kind == record_kind::acquired || r.kind == record_kind::released ||
                           (r.kind >= record_kind::frame_begin && r.kind <= record_kind::counter);
        if (typed && r.aux >= to_.types.size()) return "a record is of a type that is not there";
    }
    return nullptr;
}

const char* reader::info(payload& from) {
    const std::string* const key = string(from.take<std::uint32_t>());
    const std::string* const value = string(from.take<std::uint32_t>());
    if (key == nullptr || value == nullptr) return "a fact has a name that is not there";
    if (*key == "switches") {
        for (const auto level :
             {switch_level::none, switch_level::flag, switch_level::count, switch_level::exact}) {
            if (*value == name_of(level)) to_.switches = level;
        }
    }
    to_.info.emplace_back(*key, *value);
    return nullptr;
}

status not_one(const std::string& why) { return {EINVAL, why}; }

}  // namespace

status read_capture(std::span<const std::byte> bytes, capture& to,
                    const std::function<void(double)>& progress) {
    to = {};
    if (bytes.size() < capture_header_bytes || std::memcmp(bytes.data(), capture_magic, 8) != 0) {
        return not_one("this is not a capture");
    }
    payload head(bytes.subspan(8));
    if (const auto version = head.take<std::uint32_t>(); version != capture_version) {
        return not_one("this capture has version " + std::to_string(version) +
                       ", this program reads version " + std::to_string(capture_version));
    }
    if (head.take<std::uint32_t>() != sizeof(record)) return not_one("records have another size");
    to.began_at = head.take<std::uint64_t>();

    reader chunks(to);
    std::size_t at = capture_header_bytes, told = 0;
    while (bytes.size() - at >= 8 && !chunks.done) {
        std::uint32_t tag = 0, size = 0;
        std::memcpy(&tag, bytes.data() + at, 4);
        std::memcpy(&size, bytes.data() + at + 4, 4);
        if (size > bytes.size() - at - 8) break;  // cut off
        const char* const wrong = chunks.chunk(tag, payload(bytes.subspan(at + 8, size)));
        if (wrong != nullptr) {
            to = {};
            return not_one("the capture is broken at byte " + std::to_string(at) + ": " + wrong);
        }
        at += 8 + std::size_t{size};
        constexpr std::size_t step = std::size_t{1} << 22;
        if (progress && at - told > step) {
            told = at;
            progress(static_cast<double>(at) / static_cast<double>(bytes.size()));
        }
    }
    to.whole = chunks.done;
    to.duration = std::max(to.duration, chunks.last);
    return {};
}

status read_capture(const std::string& path, capture& to,
                    const std::function<void(double)>& progress) {
    to = {};
    struct close {
        void operator()(std::FILE* f) const { std::fclose(f); }
    };
    errno = 0;
    const std::unique_ptr<std::FILE, close> file(std::fopen(path.c_str(), "rb"));
    std::vector<std::byte> bytes;
    std::size_t size = 0;
    if (file != nullptr) {
        for (std::size_t room = 0, got = 0; got == room; size += got) {
            bytes.resize(std::max<std::size_t>(size * 2, std::size_t{1} << 20));
            room = bytes.size() - size;
            got = std::fread(bytes.data() + size, 1, room, file.get());
        }
    }
    if (file == nullptr || std::ferror(file.get()) != 0) {
        return {errno, "cannot read '" + path + "': " + std::generic_category().message(errno)};
    }
    status went = read_capture(std::span(bytes).first(size), to, progress);
    if (!went) went.text = "'" + path + "': " + went.text;
    return went;
}

}  // namespace profile
BRAID_NAMESPACE_END
