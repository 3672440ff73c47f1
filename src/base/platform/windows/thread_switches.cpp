// Windows reports switches by ETW only, to administrators. Nothing is known here.
#include "base/platform/thread_switches.hpp"

namespace braid::platform {

thread_area* own_thread_area() noexcept { return nullptr; }
std::uint64_t switch_flag::section() noexcept { return 0; }
bool switch_flag::works() noexcept { return false; }
switch_counts own_switch_counts() noexcept { return {}; }

switch_log::~switch_log() = default;
bool switch_log::open(std::uint32_t) noexcept { return false; }
bool switch_log::next(entry&) noexcept { return false; }

}  // namespace braid::platform
