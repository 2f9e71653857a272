-- The axes of its diagram.
placed as (select *, mu[2] / mu[1] as x, init_gain as y from runs)
