"""The limit of everything that a test waits for: a guard against hangs, never a claim about time.

It is that of scale.hpp, and shorter than CTest's, so that it names what hangs.
"""

HANG_LIMIT_S = 600
