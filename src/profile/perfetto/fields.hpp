#pragma once
// Numbers of the fields that we write, from Perfetto's published schema; numbers there never
// change. tests/tools/export/trace.proto says the same in the language of protoc.

#include <protozero/types.hpp>

#include "braid/base/version.hpp"

BRAID_NAMESPACE_BEGIN
namespace profile::field {

using tag = protozero::pbf_tag_type;

namespace trace {
inline constexpr tag packet = 1;
}
namespace packet {
inline constexpr tag clock_snapshot = 6;
inline constexpr tag timestamp = 8;
inline constexpr tag sequence = 10;
inline constexpr tag event = 11;
inline constexpr tag interned = 12;
inline constexpr tag sequence_flags = 13;
inline constexpr tag track = 60;
inline constexpr tag thread_state = 117;
}  // namespace packet
namespace clocks {
inline constexpr tag clock = 1, clock_id = 1, clock_time = 2;
}
namespace event {
inline constexpr tag annotation = 4;
inline constexpr tag type = 9;
inline constexpr tag name = 10;
inline constexpr tag track = 11;
inline constexpr tag source = 34;
inline constexpr tag value = 44;
inline constexpr tag flow = 47;
inline constexpr tag flow_end = 48;
}  // namespace event
namespace annotation {
inline constexpr tag name = 1, number = 3, text = 6;
}
namespace interned {
inline constexpr tag event_name = 2, annotation_name = 3, source = 4;
inline constexpr tag id = 1, text = 2;  // of all of them
inline constexpr tag source_function = 3, source_line = 4;
}  // namespace interned
namespace track {
inline constexpr tag id = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
}
namespace process {
inline constexpr tag number = 1, name = 6;
}
namespace thread {
inline constexpr tag process = 1, number = 2, name = 5;
}
namespace thread_state {
inline constexpr tag core = 1, name = 2, thread = 3, state = 4;
}

}  // namespace profile::field
BRAID_NAMESPACE_END
