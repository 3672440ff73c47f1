#include "braid/core/resource.hpp"

#include "core/control/runtime.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN

resource::resource(scheduler& s, const char* name, std::uint32_t limit)
    : state_{s.internals(), name, std::max<std::uint32_t>(limit, 1),
             s.internals().next_resource_id()} {}

resource::~resource() {
    BRAID_EXPECT(state_.rt.options.assertion, state_.held == 0 && state_.first == UINT32_MAX,
                 "a resource must outlive the tasks that use it");
}

BRAID_NAMESPACE_END
