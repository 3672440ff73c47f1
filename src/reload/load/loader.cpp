#include "reload/load/loader.hpp"

#include "braid/reload/records.hpp"
#include "reload/image/type_records.hpp"
#include "reload/platform/platform.hpp"

#include <typeinfo>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {
namespace {

/// The function of the export with that name, or null.
void (*function_in(const module_table& table, std::string_view name))() {
    for (const char* at = table.exports; table.exports_end - at >= 40;) {
        export_record record;
        std::memcpy(static_cast<void*>(&record), at, sizeof record);
        if (record.format != export_format) {
            at += 8;  // what a linker has put in between
            continue;
        }
        std::string_view own = record.name;
        const std::size_t colon = own.rfind(':');
        if (colon != std::string_view::npos) own.remove_prefix(colon + 1);
        if (own == name) return record.function;
        at += sizeof record;
    }
    return nullptr;
}

std::vector<loaded_type> types_in(const module_table& table) {
    std::vector<loaded_type> types;
    for (const char* at = table.types;
         table.types_end - at >= static_cast<long>(sizeof(type_record));) {
        type_record record;
        std::memcpy(static_cast<void*>(&record), at, sizeof record);
        if (record.format != export_format) {
            at += 8;  // what a linker has put in between
            continue;
        }
        const auto* const type = static_cast<const std::type_info*>(record.type);
        types.push_back({record_name(record.name, type != nullptr ? type->name() : ""),
                         {record.construct, record.move, record.destroy, record.check}});
        at += sizeof record;
    }
    return types;
}

}  // namespace

status load(const std::string& path, const std::vector<exported>& expected, loaded_module& out) {
    void* handle = nullptr;
    if (status went = platform::load_shared(path, handle); !went) return went;
    using door = void (*)(module_table*);
    const door show = reinterpret_cast<door>(platform::find_symbol(handle, "braid_reload_table"));
    if (show == nullptr) return {1, "it does not define 'braid_reload_table'"};
    module_table table{};
    show(&table);
    if (table.format != export_format || table.bytes != sizeof table) {
        return {1, "it was built with another version of braid/reload/records.hpp"};
    }
    out.functions.clear();
    for (const exported& one : expected) {
        const auto function = function_in(table, one.name);
        if (function == nullptr) return {1, "its code does not show '" + one.name + "'"};
        out.functions.push_back({one.name, one.type, function});
    }
    out.place = platform::place_of(handle);
    out.types = types_in(table);
    out.path = path;
    return {};
}

}  // namespace reload::detail
BRAID_NAMESPACE_END
