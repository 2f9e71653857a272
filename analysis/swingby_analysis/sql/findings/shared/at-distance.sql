-- The axes of its diagram.
placed as (select *, mu[1] / sigma[1] as x, mu[1] as y from runs)
