"""`python -m swingby`: the command, for programs that start it with the Python they run in."""

from swingby.cli import main

main()
