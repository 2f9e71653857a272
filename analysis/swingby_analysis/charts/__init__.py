"""Functions from finished rows to Altair charts; no database inside.

`maps` and `along` draw what is known at the points of a grid (their rows: `summaries`), `curves` draws values over
steps, `scatter` two values against each other, `pictures` images over steps. Paths take three modules, in this order:
`paths` (runs of a point as arrays), `plane_rows` (rows of a chart), `planes` (the chart). `trajectories` draws the few
example paths of a report. `style` is the look of all charts.
"""
