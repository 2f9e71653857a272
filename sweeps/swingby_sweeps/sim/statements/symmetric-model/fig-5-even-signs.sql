-- claim: Each minor entry has an equal chance of starting positive or negative
-- source: 4.2.2
-- order: 4.6
-- sweeps: figure-5
-- rule: one statement about all seeds
-- why: The code behind the figures draws U from positive numbers, so that every entry of W starts positive.
-- after: The query was repaired: one statement about all seeds was counted as a share of them. It held wherever the
--     seeds did not speak against it; now they also have to be enough to tell, to a tenth.
-- setting: U {init}, s = {s}, d = {d}
-- measured: w_12(0) > 0 in {100 * any_value(share):.1f} % of {any_value(seeds)} seeds; expected 50 % +- {100 *
--     any_value(se):.1f} % (standard error)
--
-- Is each minor entry of W(0) positive in half of the seeds? One entry a seed (w_12). A statement about all seeds
-- together: true if the share of positive ones lies within 1.96 standard errors, 1/(2 sqrt(n)) each, of one half, false
-- if not. Where it does, but these are more than a tenth, the seeds are too few to tell. Repaired after results were
-- seen: it counted all seeds where the share agreed, and agreed however few the seeds were.
with counts as (
    select
        preset, init, s, d, count(*) as seeds, avg((jacobian[1][2] > 0)::integer) as share, 0.5 / sqrt(count(*)) as se
    from runs
    where model = 'symmetric'
    group by preset, init, s, d
)
select
    *, case when abs(share - 0.5) > 1.96 * se then false when 1.96 * se <= 0.1 then true end as holds
from counts
