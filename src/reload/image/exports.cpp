// Records hold pointers, which the loader fills in later: image::word_at() says with what.
#include "reload/image/exports.hpp"

#include "braid/reload/records.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

bool in_name(char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

status damaged() { return {1, "is damaged: an export has no name, signature or function"}; }

status read_export(const image& from, std::uint64_t address, exported& out) {
    using record = export_record;
    const auto name = from.word_at(address + offsetof(record, name));
    const auto spelled = from.word_at(address + offsetof(record, signature));
    const auto type = from.word_at(address + offsetof(record, type));
    const auto function = from.word_at(address + offsetof(record, function));
    if (!name || !spelled || !type || !function || function->value == 0) return damaged();
    const auto name_text = from.text_at(name->value), spelled_text = from.text_at(spelled->value);
    if (!name_text || !spelled_text) return damaged();
    // Within a namespace the name may be qualified; hosts use its last part.
    const std::size_t colon = name_text->rfind(':');
    out.name = colon == std::string_view::npos ? *name_text : name_text->substr(colon + 1);
    if (out.name.empty()) return damaged();
    out.type = {type_in(*spelled_text), name_of_type(from, *type)};
    out.address = function->value;
    return {};
}

}  // namespace

std::string name_of_type(const image& from, const loaded_word& type) {
    std::string_view name;
    if (type.value != 0) {
        const auto text = from.word_at(type.value + sizeof(void*));
        if (text) name = from.text_at(text->value).value_or("");
    } else if (type.of.starts_with("_ZTI")) {
        name = type.of.substr(4);
    }
    // A star says only that names are compared by their addresses.
    return std::string(name.starts_with('*') ? name.substr(1) : name);
}

std::string type_in(std::string_view spelled) {
    // "… spelled() [with T = TYPE]" or "… [T = TYPE]".
    const std::size_t begin = spelled.find("T = ");
    if (begin != std::string_view::npos && spelled.ends_with(']')) {
        spelled = spelled.substr(begin + 4, spelled.size() - begin - 5);
    }
    std::string type;
    for (std::size_t i = 0; i < spelled.size(); ++i) {
        const bool between = spelled[i] == ' ' && !type.empty() && i + 1 < spelled.size() &&
                             in_name(type.back()) && in_name(spelled[i + 1]);
        if (spelled[i] != ' ' || between) type += spelled[i];
        if (spelled[i] == ',') type += ' ';
    }
    return type;
}

bool signature::operator==(const signature& other) const {
    if (!mangled.empty() && !other.mangled.empty()) return mangled == other.mangled;
    return text == other.text;
}

status read_exports(const image& from, std::vector<exported>& out) {
    const section* const records = from.find("braid_reload_exports");
    if (records == nullptr) return {};
    std::uint64_t at = 0;
    while (records->size - at >= sizeof(export_record)) {
        const auto format = from.value_at<std::uint32_t>(records->address + at);
        const auto bytes = from.value_at<std::uint32_t>(records->address + at + 4);
        if (!format || !bytes) return damaged();
        if (*format == 0 && *bytes == 0) {  // what a linker has put in between
            at += 8;
            continue;
        }
        if (*format != export_format || *bytes != sizeof(export_record)) {
            return {1, "was built with another version of braid/reload/export.hpp (format " +
                           std::to_string(*format) + ", and the host reads " +
                           std::to_string(export_format) + ")"};
        }
        exported one;
        if (status went = read_export(from, records->address + at, one); !went) return went;
        if (find(out, one.name) != nullptr) {
            return {1, "exports '" + one.name + "' twice"};
        }
        out.push_back(std::move(one));
        at += sizeof(export_record);
    }
    return {};
}

const exported* find(const std::vector<exported>& all, std::string_view name) {
    const auto found = std::ranges::find(all, name, &exported::name);
    return found != all.end() ? &*found : nullptr;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
