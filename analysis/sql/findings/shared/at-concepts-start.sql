-- The axes of its diagram.
placed as (select *, init_high as x, s as y from runs)
