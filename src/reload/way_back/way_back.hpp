#pragma once
// What the last reload replaced, for as long as it may come back.

#include "reload/migrate/state_change.hpp"

#include <string>
#include <vector>

BRAID_NAMESPACE_BEGIN
namespace reload::detail {

struct live_code;

struct way_back {
    struct one {
        module_state* of;
        std::shared_ptr<live_code> code;
    };
    std::vector<one> codes;
    std::unique_ptr<kept_state> state;  // null: it stayed where it was
    unsigned frames = 0;                // boundaries since
    bool said = false;                  // why it cannot be gone at the moment
};

}  // namespace reload::detail
BRAID_NAMESPACE_END
