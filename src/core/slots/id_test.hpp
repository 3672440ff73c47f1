#pragma once

#include "braid/base/version.hpp"

#include <cstdint>

BRAID_NAMESPACE_BEGIN
namespace detail {

/// A view of a predicate on task ids. It lives no longer than the call to which it is passed.
class id_test {
public:
    template <class F>
    id_test(const F& f)
        : object_(&f),
          call_([](const void* o, std::uint64_t id) { return (*static_cast<const F*>(o))(id); }) {}
    bool operator()(std::uint64_t id) const { return call_(object_, id); }

private:
    const void* object_;
    bool (*call_)(const void* object, std::uint64_t id);
};

}  // namespace detail
BRAID_NAMESPACE_END
