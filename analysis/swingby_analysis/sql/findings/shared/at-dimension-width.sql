-- The axes of its diagram.
placed as (select *, d as x, width as y from runs)
