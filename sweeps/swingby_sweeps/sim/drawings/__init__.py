"""Ways of drawing a sweep, beside its diagrams; a sweep file names them under `drawings`."""
