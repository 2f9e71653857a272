-- The axes of its diagram.
placed as (select *, init_gain as x, layers as y from runs)
