// A stand-in for the header of this name in Tracy: the few functions that Braid calls, as Tracy's
// manual and its versions 0.9 to 0.12 have them.
#pragma once

#include <stdint.h>

#if defined(TRACY_ENABLE)

#if defined(__cplusplus)
extern "C" {
#endif

struct ___tracy_source_location_data {
    const char* name;
    const char* function;
    const char* file;
    uint32_t line;
    uint32_t color;
};

struct ___tracy_c_zone_context {
    uint32_t id;
    int active;
};
typedef struct ___tracy_c_zone_context TracyCZoneCtx;

TracyCZoneCtx ___tracy_emit_zone_begin(const struct ___tracy_source_location_data* srcloc,
                                       int active);
void ___tracy_emit_zone_end(TracyCZoneCtx ctx);
void ___tracy_emit_frame_mark_start(const char* name);
void ___tracy_emit_frame_mark_end(const char* name);
void ___tracy_set_thread_name(const char* name);

#if defined(__cplusplus)
}
#endif

#endif
