"""Concept-space diffusion ([S] 5, G): conditional image diffusion on two concepts, size and colour."""
