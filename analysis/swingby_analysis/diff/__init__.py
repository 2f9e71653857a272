"""Two sweeps beside each other, or one before and after a change of the code: see `comparison`."""
