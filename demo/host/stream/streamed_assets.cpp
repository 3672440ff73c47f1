#include "streamed_assets.hpp"

#include <fmt/core.h>
#include <braid/pages/pack_writer.hpp>

#include <charconv>
#include <stdexcept>

namespace arena::host {
namespace {

constexpr std::string_view stamp_name = "stamp";  // the page that says which assets they are

bool has_these(const std::filesystem::path& file, const all_assets& all) {
    const braid::page_pack pack(file.string());
    const braid::page_id stamp = pack.find(stamp_name);
    std::uint64_t hash = 0;
    if (!stamp || pack[stamp].bytes != sizeof hash) return false;
    try {
        pack.load(stamp, std::as_writable_bytes(std::span(&hash, 1)));
    } catch (const braid::page_error&) {
        return false;
    }
    return hash == all.hash();
}

template <class Number>
Number number_of(std::string_view name, std::string_view text, Number most) {
    Number value{};
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (fault == std::errc::invalid_argument || end != text.data() + text.size())
        throw std::runtime_error(
            fmt::format("--stream-fault: '{}' is no number for {}.", text, name));
    // Neither is what is no number at all.
    if (fault != std::errc{} || !(value >= 0 && value <= most))
        throw std::runtime_error(fmt::format("--stream-fault: {} is 0 to {}.", name, most));
    return value;
}

void set_fault(braid::file_faults& all, std::string_view name, std::string_view text) {
    if (name == "seed") {
        all.seed = number_of(name, text, UINT64_MAX);
    } else if (name == "eio") {
        all.fails = number_of(name, text, 1.0);
    } else if (name == "short") {
        all.is_cut = number_of(name, text, 1.0);
    } else if (name == "delay") {
        all.is_late = 1;
        constexpr double most_ms = static_cast<double>(braid::file_faults::most_delay.value) / 1e6;
        all.delay =
            braid::nanoseconds{static_cast<std::int64_t>(number_of(name, text, most_ms) * 1e6)};
    } else {
        throw std::runtime_error(
            fmt::format("--stream-fault: there is no '{}'; there are seed, eio (share of reads), "
                        "short (share), "
                        "delay (ms).",
                        name));
    }
}

}  // namespace

braid::file_back_end parse_back_end(std::string_view text) {
    if (text == "uring") return braid::file_back_end::uring;
    if (text == "threads") return braid::file_back_end::threads;
    return braid::file_back_end::automatic;
}

braid::file_faults parse_faults(std::string_view text) {
    braid::file_faults all;
    while (!text.empty()) {
        const std::string_view one = text.substr(0, text.find(','));
        const std::size_t equals = std::min(one.find('='), one.size());
        set_fault(all, one.substr(0, equals), one.substr(std::min(equals + 1, one.size())));
        text.remove_prefix(std::min(one.size() + 1, text.size()));
    }
    return all;
}

void make_pack(const std::filesystem::path& file, const all_assets& all) {
    if (has_these(file, all)) return;
    std::error_code trouble;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path(), trouble);
    if (trouble)
        throw std::runtime_error("cannot create the folder " + file.parent_path().string() + ".");
    braid::pack_writer to(file.string(), {.level = 1});
    const std::uint64_t hash = all.hash();
    to.add(stamp_name, std::as_bytes(std::span(&hash, 1)));
    std::vector<std::byte> bytes;
    for (std::uint32_t page = 0; page < all.size(); ++page) {
        if (!all.is_page(page)) continue;
        bytes.resize(all.bytes(page));
        all.make(page, bytes);
        to.add(all.name(page), bytes);
    }
    if (!to.finish()) throw std::runtime_error(to.error() + ".");
    fmt::print("Wrote {:.0f} MiB of clips and levels of detail to {}\n",
               static_cast<double>(std::filesystem::file_size(file)) / (1 << 20), file.string());
}

streamed_assets::streamed_assets(braid::scheduler& s, const stream_options& wish, unsigned frames)
    : pack_(wish.pack.string()),
      ids_(wish.all->size()),
      io_(s, {.name = "assets",
              .bytes_per_frame = std::size_t{1} << 20,
              .back_end = parse_back_end(wish.back_end),
              .faults = parse_faults(wish.faults)}),
      cache_(s, io_, pack_,
             {.name = "assets",
              .resident_bytes = std::size_t{wish.resident_mib} << 20,
              .frames_in_flight = frames,
              .retries = braid::page_cache_options::most_retries,
              .unpack_budget = braid::milliseconds(2)}),
      table_{this,
             [](void* of, std::uint64_t frame) {
                 static_cast<streamed_assets*>(of)->begin_frame(frame);
             },
             [](void* of, std::uint32_t page, std::uint64_t frame) {
                 auto& self = *static_cast<streamed_assets*>(of);
                 self.cache_.want(self.ids_[page], frame);
             },
             [](void* of, std::uint32_t page, std::uint64_t frame) {
                 auto& self = *static_cast<streamed_assets*>(of);
                 return self.cache_.bytes(self.cache_.need(self.ids_[page], frame)).data();
             }} {
    if (!pack_.is_open()) throw std::runtime_error(pack_.error() + ".");
    for (std::uint32_t page = 0; page < ids_.size(); ++page) {
        if (wish.all->is_page(page)) ids_[page] = pack_.find(wish.all->name(page));
    }
}

void streamed_assets::begin_frame(std::uint64_t frame) {
    io_.begin_frame();
    cache_.begin_frame(frame);
    cache_.unpack_some();
}

}  // namespace arena::host
