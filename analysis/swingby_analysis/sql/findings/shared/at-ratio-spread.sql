-- The axes of its diagram.
placed as (select *, mu[2] / mu[1] as x, sigma[1] / mu[1] as y from runs)
