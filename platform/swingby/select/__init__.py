"""The choice of the cells that a refined sweep trains next; it starts no process, and reads no clock and no store."""
