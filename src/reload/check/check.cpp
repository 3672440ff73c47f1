// Cheap checks come before those that trust more of the file.
#include "reload/check/check.hpp"

#include "reload/dwarf/graph.hpp"
#include "reload/image/flags.hpp"
#include "reload/image/type_records.hpp"
#include "reload/stamp/stamp.hpp"

#include <cctype>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

status check_stamp(std::span<const std::byte> bytes, const image& module,
                   const std::optional<std::string>& text) {
    stamp said;
    if (!text) return {};
    if (!parse(*text, said)) return {1, "has a stamp that cannot be read: publish it again"};
    if (judge(said, stamp_of(bytes, module)) != stamp_verdict::damaged) return {};
    return {1, "is damaged: its bytes are not those that were stamped"};
}

status check_flags(const image& module, bool types) {
    for (const missing_flag& one : missing_flags(module, types)) {
        if (!one.refuses) continue;
        std::string because = one.because;
        because.pop_back();
        because[0] = static_cast<char>(std::tolower(because[0]));
        return {1, "was built without " + std::string(one.flag) + ": " + because};
    }
    return {};
}

status compare_types(std::span<const std::byte> bytes, const host_side& host,
                     checked_module& module) {
    debug_info own;
    if (status went = own.open(bytes); !went) return went;
    // Functions are described by -g1, too, and then there would be nothing to compare.
    if (const std::string why = why_types_lack(own); !why.empty()) return {1, why};
    std::vector<std::uint64_t> functions;
    for (const exported& one : module.exports) functions.push_back(one.address);
    if (status went = own.types_of(functions, module.types); !went) return went;
    if (host.types == nullptr) return {};
    for (const auto& [name, theirs] : module.types) {
        const layout* const ours = host.types->find(name);
        if (ours == nullptr) continue;
        std::string differs = difference(*ours, "the host", theirs, "the module");
        if (!differs.empty()) return {1, "sees a type otherwise: " + differs};
    }
    return {};
}

}  // namespace

status match(const std::vector<wanted_function>& wanted, const std::vector<exported>& exports) {
    for (const wanted_function& one : wanted) {
        const exported* const found = find(exports, one.name);
        if (found == nullptr) return {1, "does not export '" + one.name + "'"};
        if (!(found->type == one.type)) {
            return {1, "exports '" + one.name + "' as " + found->type.text +
                           ", and the host calls it as " + one.type.text};
        }
    }
    return {};
}

status check_module(std::span<const std::byte> bytes, const std::optional<std::string>& stamp,
                    const host_side& host, checked_module& out) {
    out = {};
    image module;
    if (status went = image::read(bytes, module); !went) return went;
    if (status went = check_stamp(bytes, module, stamp); !went) return went;
    if (status went = check_flags(module, host.compare_types); !went) return went;
    out.build_id = module.build_id();
    out.statics = variables_of(module);
    if (status went = read_exports(module, out.exports); !went) return went;
    if (status went = match(host.functions, out.exports); !went) return went;
    return host.compare_types ? compare_types(bytes, host, out) : status{};
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
