"""Runs a program on one core, where the library by default makes no worker: on_one_core.py PROGRAM ARGUMENT..."""

import os
import sys

os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
os.execv(sys.argv[1], sys.argv[1:])
