// The chunks of a capture; docs/design/profile.md has their bytes.
#include "profile/capture_writer.hpp"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <system_error>

BRAID_NAMESPACE_BEGIN
namespace profile {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie");

const char* name_of(switch_level level) {
    constexpr const char* names[] = {"none", "flag", "count", "exact"};
    return names[static_cast<unsigned>(level)];
}

template <class T>
void capture_writer::put(const T& value) {
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
}

void capture_writer::begin_chunk(std::uint32_t tag) {
    chunk_ = bytes_.size();
    put(tag);
    put(std::uint32_t{0});
}

void capture_writer::end_chunk() {
    constexpr std::size_t head = 8;
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    const auto size = static_cast<std::uint32_t>(bytes_.size() - chunk_ - head);
    std::memcpy(bytes_.data() + chunk_ + 4, &size, sizeof size);
}

std::uint32_t capture_writer::string(std::string_view text) {
    if (text.empty()) return 0;
    const auto number = static_cast<std::uint32_t>(strings_.size() + 1);
    const auto [at, added] = strings_.emplace(text, number);
    if (!added) return at->second;
    begin_chunk(tag_of("STRS"));
    put(number);
    put(std::uint32_t{1});
    put(static_cast<std::uint32_t>(text.size()));
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), first, first + text.size());
    end_chunk();
    return number;
}

void capture_writer::header(std::uint64_t began_at) {
    const auto* magic = reinterpret_cast<const std::byte*>(capture_magic);
    bytes_.insert(bytes_.end(), magic, magic + 8);
    put(capture_version);
    put(static_cast<std::uint32_t>(sizeof(record)));
    put(began_at);
    put(std::uint64_t{0});
}

std::uint32_t capture_writer::type(std::string_view name, std::string_view file,
                                   std::uint32_t line) {
    const std::uint32_t name_string = string(name);
    const std::uint32_t file_string = string(file);
    begin_chunk(tag_of("TYPE"));
    put(types_);
    put(std::uint32_t{1});
    put(name_string);
    put(file_string);
    put(line);
    put(std::uint32_t{0});
    end_chunk();
    return types_++;
}

void capture_writer::lane(std::uint32_t number, const profile::lane& about) {
    const std::uint32_t name = string(about.name);
    begin_chunk(tag_of("LANE"));
    put(number);
    put(name);
    put(static_cast<std::uint32_t>(about.kind));
    put(about.seat);
    put(about.thread);
    if (about.switches || about.clock_error != 0) {
        put(about.switches ? static_cast<std::uint32_t>(*about.switches) + 1 : 0);
        put(about.clock_error);
    }
    end_chunk();
}

void capture_writer::records(std::uint32_t lane, std::span<const record> of_lane,
                             std::uint64_t dropped) {
    begin_chunk(tag_of("EVTS"));
    put(lane);
    put(static_cast<std::uint32_t>(of_lane.size()));
    put(dropped);
    const auto* first = reinterpret_cast<const std::byte*>(of_lane.data());
    bytes_.insert(bytes_.end(), first, first + of_lane.size_bytes());
    end_chunk();
}

void capture_writer::clock(const clock_pair& both) {
    begin_chunk(tag_of("CLCK"));
    put(both.ticks);
    put(both.ns);
    end_chunk();
}

void capture_writer::info(std::string_view key, std::string_view value) {
    const std::uint32_t key_string = string(key);
    const std::uint32_t value_string = string(value);
    begin_chunk(tag_of("INFO"));
    put(key_string);
    put(value_string);
    end_chunk();
}

void capture_writer::done(std::uint64_t duration) {
    begin_chunk(tag_of("DONE"));
    put(duration);
    end_chunk();
}

std::vector<std::byte> capture_writer::take() { return std::exchange(bytes_, {}); }

std::vector<std::byte> bytes_of(const capture& from) {
    capture_writer to;
    to.header(from.began_at);
    for (const auto& [key, value] : from.info) {
        if (key != "switches") to.info(key, value);
    }
    to.info("switches", name_of(from.switches));
    for (const clock_pair& both : from.clocks) to.clock(both);
    for (std::size_t i = 1; i < from.types.size(); ++i) {
        to.type(from.types[i].name, from.types[i].file, from.types[i].line);
    }
    constexpr std::size_t most = std::size_t{1} << 16;
    for (std::uint32_t i = 0; i < from.lanes.size(); ++i) {
        const lane& l = from.lanes[i];
        to.lane(i, l);
        std::uint64_t dropped = l.dropped;
        for (std::span<const record> rest = l.records; !rest.empty() || dropped != 0;) {
            const auto now = rest.first(std::min(most, rest.size()));
            to.records(i, now, std::exchange(dropped, 0));
            rest = rest.subspan(now.size());
        }
    }
    if (from.whole) to.done(from.duration);
    return to.take();
}

status write_capture(const capture& from, const std::string& path) {
    const std::vector<std::byte> bytes = bytes_of(from);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    bool well = file != nullptr;
    well = well && std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    if (file != nullptr) well = std::fclose(file) == 0 && well;
    if (well) return {};
    return {errno, "cannot write '" + path + "': " + std::generic_category().message(errno)};
}

}  // namespace profile
BRAID_NAMESPACE_END
