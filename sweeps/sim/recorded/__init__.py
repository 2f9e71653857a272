"""Recorded results of the phase diagrams, one file a sweep: `swingby pack` writes them, `swingby unpack` reads them."""
