"""Fault drills: what may happen to a sweep of days, done to small ones; `python -m tests.drills --help`.

Each drill harms a run of the tests' own experiment, finishes it by the same command, and then checks what every one
promises: each planned cell is in the store exactly once, or failed with its reason; nothing unfinished is left.
"""
