-- The axes of its diagram.
placed as (select *, init_gain as x, width as y from runs)
