"""The selector of boundaries: few cells, at the points that tell most about where an outcome's share crosses a level.

`space` is the grid as the selector sees it, `surface` the share that labels say it has, `choice` the points to ask
next, `verdicts` what is known of each point, and `boundary` the selector, asked and told in turn. Nothing here reads a
clock, a file or a store: a choice depends on labels, on cells in flight, and on what earlier choices remembered.
"""
