#pragma once
// BRAID_API marks the functions and classes that the shared library exports. All others are hidden
// (-fvisibility=hidden).

#if defined(BRAID_STATIC)
#define BRAID_API
#elif defined(_WIN32)
#if defined(BRAID_BUILDING)
#define BRAID_API __declspec(dllexport)
#else
#define BRAID_API __declspec(dllimport)
#endif
#else
#define BRAID_API __attribute__((visibility("default")))
#endif

#if defined(__cpp_exceptions)
#define BRAID_HAS_EXCEPTIONS 1
#else
#define BRAID_HAS_EXCEPTIONS 0
#endif
