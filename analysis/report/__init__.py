"""The report of a sweep: one HTML page that works offline, and every figure beside it as PNG, SVG and PDF."""
