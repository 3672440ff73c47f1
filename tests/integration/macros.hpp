// What other headers define for the whole program: Qt, windows.h, X11 and <cassert>. Public headers
// must compile after them, provided that the standard headers came first.
#pragma once

#define forever for (;;)
#define slots
#define signals public
#define emit
#define foreach for

#define min(a, b) (((a) < (b)) ? (a) : (b))
#define max(a, b) (((a) > (b)) ? (a) : (b))
#define near
#define far
#define small char
#define interface struct

#define Success 0
#define None 0L
#define Bool int
#define Status int
#define Always 2

#define assert(condition) ((void)0)
