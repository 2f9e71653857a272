"""A small read-only web page over a data folder: sweeps with their progress, their reports, and SQL in the sandbox."""
