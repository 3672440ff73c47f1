#include "reload/image/flags.hpp"

#include <elf.h>

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

constexpr std::string_view door = "braid_reload_table";

bool is_unique(const symbol& s) { return s.bind == STB_GNU_UNIQUE && s.section != SHN_UNDEF; }

bool is_shown(const symbol& s) {
    return s.bind == STB_GLOBAL && s.section != SHN_UNDEF && s.section < SHN_LORESERVE &&
           s.visibility == STV_DEFAULT && (s.type == STT_FUNC || s.type == STT_OBJECT) &&
           s.name != door;
}

std::string quoted(std::string_view name) { return std::string("'").append(name).append("'"); }

}  // namespace

std::vector<missing_flag> missing_flags(const image& of, bool types) {
    std::vector<missing_flag> missing;
    if (of.build_id().empty()) {
        missing.push_back({"-Wl,--build-id=sha1", "It has no build-id."});
    }
    const auto unique = std::ranges::find_if(of.symbols(), is_unique);
    if (unique != of.symbols().end()) {
        missing.push_back({"-fno-gnu-unique", "The system binds " + quoted(unique->name) +
                                                  " to the first library that has it."});
    }
    if (const std::string_view open = of.open_symbol(); !open.empty()) {
        missing.push_back({"-Wl,-Bsymbolic",
                           "The " + quoted(open) + " of another library would be used instead."});
    }
    if (types && of.find(".debug_info") == nullptr) {
        missing.push_back({"-g", "It has no debug information, so types cannot be compared."});
    }
    if (std::ranges::none_of(of.symbols(), [](const symbol& s) { return s.name == door; })) {
        missing.push_back({"#include <braid/reload/export.hpp>", "It exports nothing."});
    }
    const auto shown = std::ranges::find_if(of.symbols(), is_shown);
    if (shown != of.symbols().end()) {
        missing.push_back(
            {"-fvisibility=hidden", quoted(shown->name) + " is shown to other libraries.", false});
    }
    return missing;
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
