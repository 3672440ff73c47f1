#include "base/standard_error.hpp"

#include "base/platform/platform.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

}  // namespace

std::uint32_t standard_error::kind_of(const char* message) {
    std::uint32_t hash = 2166136261;  // FNV-1a
    bool quoted = false;
    for (const char* at = message; *at != '\0'; ++at) {
        if (*at == '\'') quoted = !quoted;
        if (quoted || (*at >= '0' && *at <= '9') || *at == '.') continue;
        hash = (hash ^ static_cast<unsigned char>(*at)) * 16777619;
    }
    return hash != 0 ? hash : 1;
}

/// Null: no row is free.
standard_error::row* standard_error::row_of(std::uint32_t kind) {
    constexpr std::uint32_t count = sizeof rows_ / sizeof rows_[0];
    for (std::uint32_t n = 0; n != count; ++n) {
        row& r = rows_[(kind + n) % count];
        // relaxed, all of this class: each word stands for itself.
        std::uint32_t is = r.kind.load(relaxed);
        if (is == 0 && r.kind.compare_exchange_strong(is, kind, relaxed, relaxed)) return &r;
        if (is == kind) return &r;
    }
    return nullptr;
}

bool standard_error::has_turn(std::uint32_t kind, std::int64_t now_ns, std::uint32_t& left_out) {
    left_out = 0;
    row* const r = row_of(kind);
    if (r == nullptr) return true;
    std::int64_t again = r->again_ns.load(relaxed);
    if ((again == 0 || now_ns >= again) &&
        r->again_ns.compare_exchange_strong(again, now_ns + second_ns, relaxed, relaxed)) {
        left_out = r->left_out.exchange(0, relaxed);
        return true;
    }
    r->left_out.fetch_add(1, relaxed);
    return false;
}

void standard_error::say(void* self, log_level level, const char* message) {
    if (level == log_level::info) return;
    std::uint32_t left_out = 0;
    auto* const own = static_cast<standard_error*>(self);
    if (own != nullptr && !own->has_turn(kind_of(message), active_policy::now(), left_out)) return;
    char line[640];
    if (left_out != 0) {
        std::snprintf(line, sizeof line, "braid: %.560s (and %u more like it before)\n", message,
                      left_out);
    } else {
        std::snprintf(line, sizeof line, "braid: %.600s\n", message);
    }
    platform::write_error(line);
}

standard_error::~standard_error() {
    std::uint64_t sum = 0;
    for (const row& r : rows_) sum += r.left_out.load(relaxed);
    if (sum == 0) return;
    char line[80];
    std::snprintf(line, sizeof line, "braid: %llu more like these were left out\n",
                  static_cast<unsigned long long>(sum));
    platform::write_error(line);
}

}  // namespace detail
BRAID_NAMESPACE_END
