"""Named sweeps: what the claims ask for beyond the figures."""
