#pragma once
// Whether a file may become the code of a module: every check that runs none of it.

#include "reload/dwarf/debug_info.hpp"
#include "reload/image/exports.hpp"

#include <optional>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

/// What the host calls.
struct wanted_function {
    std::string name;
    signature type;
};

/// A file that was read and found good.
struct checked_module {
    std::string build_id;
    std::vector<exported> exports;
    std::vector<std::string> statics;  // those that are not constant
    type_table types;                  // empty: not compared
};

/// The host's side of what is compared.
struct host_side {
    std::vector<wanted_function> functions;
    bool compare_types = true;
    /// Null: the host has no debug information.
    debug_info* types = nullptr;
};

/// `stamp`: the text of the file beside the module, if there is one. A status says what is wrong in
/// half a sentence, as in "the file " + text.
status check_module(std::span<const std::byte> bytes, const std::optional<std::string>& stamp,
                    const host_side& host, checked_module& out);

/// Whether these exports have what the host calls, as half a sentence.
status match(const std::vector<wanted_function>& wanted, const std::vector<exported>& exports);

}  // namespace reload::detail
BRAID_NAMESPACE_END
