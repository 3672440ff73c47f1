// One page that holds the viewer, a capture and its analysis: for a bug report.
#include "html.hpp"

#include "analysis_json.hpp"
#include "braid/profile/viewer_page.hpp"

#include <stdexcept>
#include <string>

namespace braid::tool {
namespace {

/// RFC 4648, section 4.
std::string base64(std::span<const std::byte> bytes) {
    constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
        std::uint32_t three = 0;
        for (std::size_t k = 0; k < 3; ++k) {
            three = three << 8 | (k < there ? std::to_integer<std::uint32_t>(bytes[i + k]) : 0);
        }
        for (std::size_t k = 0; k < 4; ++k) {
            text += k <= there ? digits[three >> (18 - 6 * k) & 63] : '=';
        }
    }
    return text;
}

/// A page ends a script at the first `</script`, wherever that stands.
std::string without_tags(const std::string& json) {
    std::string safe;
    for (const char c : json) {
        if (c == '<') {
            safe += "\\u003c";
        } else {
            safe += c;
        }
    }
    return safe;
}

}  // namespace

bool write_html(const profile::capture& from, const profile::byte_sink& to,
                const std::function<void(double)>& progress) {
    constexpr std::string_view place = "<!-- braid:data -->";
    const std::string_view page = profile::viewer_page();
    const std::size_t at = page.find(place);
    if (at == std::string_view::npos) {
        throw std::runtime_error("this braid was built without the viewer's page.");
    }
    if (!to(page.substr(0, at)) ||
        !to("<script type=\"application/octet-stream;base64\" id=\"braid-capture\">") ||
        !to(base64(profile::bytes_of(from)))) {
        return false;
    }
    if (progress) progress(0.5);
    return to("</script>\n<script type=\"application/json\" id=\"braid-analysis\">") &&
           to(without_tags(analysis_json(profile::make_history(from)))) && to("</script>") &&
           to(page.substr(at + place.size()));
}

}  // namespace braid::tool
