"""Named sweeps: one for each SIM figure of the swing-by paper."""
