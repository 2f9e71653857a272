-- The axes of its diagram.
placed as (select *, lr as x, layers as y from runs)
