"""Files that bring a sweep to machines that somebody else hands out: batch scripts and manifests, as text."""
