-- The axes of its diagram.
placed as (select *, epochs as x, sigma[1] as y from runs)
