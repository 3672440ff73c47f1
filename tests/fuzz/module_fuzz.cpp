// Any bytes: as a module's file they are read or refused, without harm; what was read names places
// inside the bytes only. scripts/fuzz.sh builds and runs it.
#include "reload/image/exports.hpp"
#include "reload/image/flags.hpp"
#include "reload/image/type_records.hpp"
#include "reload/stamp/stamp.hpp"

#include <cstdlib>

namespace {

namespace detail = braid::reload::detail;

void require(bool claim) {
    if (!claim) std::abort();
}

void require_inside(std::span<const std::byte> bytes, std::string_view text) {
    const auto* const begin = reinterpret_cast<const char*>(bytes.data());
    require(text.empty() ||
            (text.data() >= begin && text.data() + text.size() <= begin + bytes.size()));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::span bytes(reinterpret_cast<const std::byte*>(data), size);
    detail::stamp stamp;
    if (detail::parse({reinterpret_cast<const char*>(data), size}, stamp)) {
        require(detail::parse(detail::text_of(stamp), stamp));
    }
    detail::image module;
    const braid::status went = detail::image::read(bytes, module);
    if (!went) {
        require(!went.text.empty() && module.sections().empty());
        return 0;
    }
    for (const detail::section& one : module.sections()) {
        require_inside(bytes, one.name);
        require(module.bytes_of(one).size() <= size);
    }
    for (const detail::symbol& one : module.symbols()) require_inside(bytes, one.name);
    require(module.build_id_offset() + module.build_id_size() <= size);
    detail::stamp own = detail::stamp_of(bytes, module);
    require(detail::judge(own, own) == detail::stamp_verdict::whole);
    (void)detail::missing_flags(module);
    (void)detail::variables_of(module);
    detail::type_notes notes;
    (void)detail::read_type_notes(module, notes);
    std::vector<detail::exported> exports;
    if (!detail::read_exports(module, exports)) return 0;
    for (const detail::exported& one : exports) require(!one.name.empty() && one.address != 0);
    return 0;
}
