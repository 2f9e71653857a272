"""Object storage in place of a shared disk: objects, locks and signals, and the folder here that mirrors one there."""
