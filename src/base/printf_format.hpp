#pragma once
// BRAID_PRINTF(f, a): the compiler checks the argument with number f as a format of the standard C
// library, and from number a on what it prints.

#if defined(__MINGW32__) && !defined(__clang__)
// Otherwise the rules of Microsoft's C library, which has no %zu. The one that is called has it.
#define BRAID_PRINTF(f, a) __attribute__((format(gnu_printf, f, a)))
#else
#define BRAID_PRINTF(f, a) __attribute__((format(printf, f, a)))
#endif
