// A stamp and a module change together only for those who respect the lock, as hosts do.
#include "braid/reload/publish.hpp"

#include "reload/dwarf/graph.hpp"
#include "reload/image/exports.hpp"
#include "reload/image/flags.hpp"
#include "reload/platform/platform.hpp"
#include "reload/stamp/stamp.hpp"
#include "reload/watch/lock_rules.hpp"

BRAID_NAMESPACE_BEGIN
namespace reload {
namespace {

struct read_module {
    std::vector<std::byte> bytes;
    detail::image parsed;
    std::vector<detail::exported> exports;
};

std::string quoted(const std::string& path) { return std::string("'").append(path).append("'"); }

status read(const std::string& path, read_module& out) {
    platform::file_mark mark;
    if (status went = platform::read_file(path, out.bytes, mark); !went) {
        return {went.code, went.text + "."};
    }
    status went = detail::image::read(out.bytes, out.parsed);
    if (went) went = detail::read_exports(out.parsed, out.exports);
    return went ? went : status{went.code, quoted(path) + " " + went.text + "."};
}

std::string sentence_of(const detail::missing_flag& one) {
    return std::string(one.flag) + " is missing. " + one.because;
}

/// Half a sentence; "" also where no debug information is: that is a flag which is missing.
std::string why_types_lack(const read_module& module) {
    detail::debug_info types;
    return types.open(module.bytes) ? detail::why_types_lack(types) : "";
}

status put(const std::string& to, std::span<const std::byte> bytes, platform::file_kind kind) {
    const std::string from = to + ".new";
    status went = platform::write_file(from, bytes, kind);
    if (went) went = platform::replace_file(from, to);
    if (!went) platform::remove_file(from);
    return went ? went : status{went.code, went.text + "."};
}

}  // namespace

status publish(const std::string& staged, const std::string& live) {
    read_module module;
    if (status went = read(staged, module); !went) return went;
    for (const detail::missing_flag& one : detail::missing_flags(module.parsed)) {
        if (one.refuses) return {1, quoted(staged) + ": " + sentence_of(one)};
    }
    if (const std::string why = why_types_lack(module); !why.empty()) {
        return {1, quoted(staged) + " " + why + "."};
    }
    const std::string stamp = detail::text_of(detail::stamp_of(module.bytes, module.parsed));
    platform::held_lock lock;
    if (status went = lock.take(detail::lock_path(live)); !went) {
        return {went.code, went.text + "."};
    }
    status went =
        put(detail::stamp_path(live), std::as_bytes(std::span(stamp)), platform::file_kind::data);
    if (went) went = put(live, module.bytes, platform::file_kind::code);
    return went;
}

check_result check_file(const std::string& path) {
    check_result result;
    read_module module;
    result.readable = read(path, module);
    if (!result.readable) return result;
    for (const detail::missing_flag& one : detail::missing_flags(module.parsed)) {
        result.missing.push_back(sentence_of(one));
    }
    if (const std::string why = why_types_lack(module); !why.empty()) {
        result.missing.push_back("It " + why + ".");
    }
    for (const detail::exported& one : module.exports) {
        result.exports.push_back(one.name + ": " + one.type.text);
    }
    return result;
}

}  // namespace reload
BRAID_NAMESPACE_END
