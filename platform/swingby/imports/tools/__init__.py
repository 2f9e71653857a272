"""What other tools leave on a disk, read as runs: a module a tool, each with one function `runs(path)`.

Nothing of the tools is installed for it: their files are plain texts, SQLite, or records of Protocol Buffers. No pickle
is opened, and no code of theirs runs.
"""
