"""The detector of the experiment `unconstrained`."""
