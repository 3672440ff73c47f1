// Tokens, hosts, addresses.
#include "profile/stream/guard.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <random>

BRAID_NAMESPACE_BEGIN
namespace profile {
namespace {

constexpr std::string_view hosts[] = {"127.0.0.1", "localhost"};
constexpr std::size_t token_digits = 32;
constexpr std::string_view live_fragment = "/#live=", view_fragment = "/#view=";

bool skip(std::string_view& text, std::string_view start) {
    if (!text.starts_with(start)) return false;
    text.remove_prefix(start.size());
    return true;
}

void skip_space(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

std::string with_port(std::string_view host, std::uint16_t port) {
    std::string all(host);
    all += ':';
    return all += std::to_string(port);
}

std::string address(std::uint16_t port, std::string_view fragment, std::string_view token) {
    std::string url = "http://";
    url += with_port(hosts[0], port);
    url += fragment;
    return url += token;
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

}  // namespace

std::string make_token() {
    std::random_device random;
    std::string token;
    while (token.size() < token_digits) {
        auto bits = static_cast<std::uint32_t>(random());
        for (int i = 0; i < 8; ++i, bits >>= 4) token += "0123456789abcdef"[bits & 15];
    }
    return token;
}

bool same_token(std::string_view right, std::string_view shown) {
    if (right.size() != shown.size()) return false;
    unsigned difference = 0;
    for (std::size_t i = 0; i < right.size(); ++i) {
        difference |= static_cast<unsigned char>(right[i] ^ shown[i]);
    }
    return difference == 0;
}

bool is_own_host(std::string_view host, std::uint16_t port) {
    return std::any_of(std::begin(hosts), std::end(hosts),
                       [&](std::string_view own) { return host == with_port(own, port); });
}

bool is_own_origin(std::string_view origin, std::uint16_t port) {
    return skip(origin, "http://") && is_own_host(origin, port);
}

std::optional<double> ping_of(std::string_view text) {
    for (const std::string_view part : {"{", "\"ping\"", ":"}) {
        skip_space(text);
        if (!skip(text, part)) return {};
    }
    skip_space(text);
    double number = 0;
    const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (wrong != std::errc() || !std::isfinite(number)) return {};
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_space(text);
    if (!skip(text, "}")) return {};
    skip_space(text);
    if (!text.empty()) return {};
    return number;
}

std::string pong_text(double ping, std::uint64_t now) {
    char digits[40];
    const auto end = std::to_chars(std::begin(digits), std::end(digits), ping).ptr;
    std::string text = "{\"pong\": ";
    text.append(std::begin(digits), end);
    text += ", \"time\": ";
    text += std::to_string(now);
    return text += '}';
}

std::string live_url(std::uint16_t port, std::string_view token) {
    return address(port, live_fragment, token);
}

std::string view_url(std::uint16_t port, std::string_view token) {
    return address(port, view_fragment, token);
}

std::string_view shown_token(std::string_view authorization) {
    return skip(authorization, "Bearer ") ? authorization : std::string_view();
}

bool is_live_url(std::string_view url) {
    if (!skip(url, "http://")) return false;
    const std::size_t end = url.find('/');
    if (end == url.npos) return false;
    const std::string_view host = url.substr(0, end);
    url.remove_prefix(end);
    const std::size_t colon = host.find(':');
    if (colon == host.npos) return false;
    std::uint16_t port = 0;
    const char* const last = host.data() + host.size();
    const auto [stop, wrong] = std::from_chars(host.data() + colon + 1, last, port);
    if (wrong != std::errc() || stop != last || port == 0 || !is_own_host(host, port)) return false;
    return skip(url, live_fragment) && url.size() == token_digits &&
           std::all_of(url.begin(), url.end(), is_hex);
}

std::string page_policy(std::uint16_t port) {
    // The page is one file: its script and style stand in it, and its worker is made of a text.
    std::string policy =
        "default-src 'none'; script-src 'unsafe-inline' blob: data:; worker-src blob: data:; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; connect-src 'self'";
    for (const std::string_view host : hosts) {
        policy += " ws://";
        policy += with_port(host, port);
    }
    return policy;
}

}  // namespace profile
BRAID_NAMESPACE_END
