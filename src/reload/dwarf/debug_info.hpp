#pragma once
// Layouts of types from debug information. The one place that knows libdw.

#include "reload/types/layout.hpp"

#include "braid/base/status.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct debug_entries;

/// The debug information of one file. One thread at a time.
class debug_info {
public:
    debug_info();
    ~debug_info();
    debug_info(const debug_info&) = delete;
    debug_info& operator=(const debug_info&) = delete;

    /// The bytes must stay. A status in half a sentence: there is no debug information.
    status open(std::span<const std::byte> bytes);
    /// Walks through all types, which is most of the work. The first question would do it.
    void make_index();

    /// The types in the signatures of the functions that begin at these addresses, and all that can
    /// be reached from them: members, bases, what pointers point to. Types of which the file has
    /// only a declaration are left out. A status: one of the functions is not described.
    status types_of(const std::vector<std::uint64_t>& functions, type_table& out);

    /// The type with that whole name, where the file defines it; null: it does not.
    const layout* find(const std::string& name);

    /// For readers beside this one.
    debug_entries& entries() const { return *entries_; }

private:
    std::unique_ptr<debug_entries> entries_;
    std::unordered_map<std::string, layout> known_;
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
