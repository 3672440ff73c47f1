#include "braid/frame/command_buffer.hpp"

#include "core/extension.hpp"

#include <cstdio>

BRAID_NAMESPACE_BEGIN
namespace detail {

void* frame_allocate(runtime& rt, std::size_t bytes, std::size_t alignment) {
    return core::memory(rt).allocate(bytes, alignment, memory_tag::frame);
}

void frame_release(runtime& rt, void* p, std::size_t bytes, std::size_t alignment) {
    core::memory(rt).release(p, bytes, alignment, memory_tag::frame);
}

void report_commands_full(runtime& rt, const char* name, std::size_t limit) {
    core::log(rt, log_level::error,
              "'%s' holds %zu commands and takes no more in this frame; raise "
              "command_buffer_options::limit",
              name, limit);
}

bool in_child_of_fork(const runtime& rt) { return core::in_child(rt); }

void log_frame_warning(runtime& rt, const char* what) {
    core::log(rt, log_level::warning, "%s", what);
}
void report_frame_misused(runtime& rt, const char* rule, const char* name, const char* what) {
    char text[200];
    std::snprintf(text, sizeof text, "'%s': %s", name, what);
    report_misuse(core::misuse(rt), rule, text, __FILE__, __LINE__);
}

}  // namespace detail
BRAID_NAMESPACE_END
