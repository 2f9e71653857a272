-- claim: A major entry of a normal start has the stated mean
-- source: eq E.1
-- order: 7.1
-- sweeps: claim-initial-weights
-- rule: one statement about all seeds
-- after: The query was repaired: one statement about all seeds was counted as a share of them. It held wherever the
--     seeds did not speak against it; now they also have to be enough to tell, to a tenth.
-- setting: U normal, d' = {width}, tau = {tau:.3g}
-- measured: w_11(0): {any_value(mean):.5f} +- {coalesce(format('{:.5f}', any_value(se)), 'unknown')} (mean and standard
--     error of {any_value(seeds)} seeds); expected {any_value(expected):.5f}
--
-- E.1: is the mean of a major entry of W(0) d' tau^2, where U has d' columns of entries N(0, tau^2)? A statement about
-- all seeds together: true if the mean of w_11 lies within 2.58 standard errors of it, which are at most a tenth of it.
-- Rows by d'.
-- Repaired after results were seen: it counted all seeds where the mean agreed, and agreed however few the seeds were;
-- the tenth is that of the claim about single seeds.
with means as (
    select
        preset, width, tau, count(*) as seeds, avg(w_11) as mean,
        stddev_samp(w_11) / sqrt(count(*)) as se, any_value(e_1_major) as expected
    from normal_starts
    group by preset, width, tau
)
select
    *, coalesce(2.58 * se, 'inf'::double) as margin,
    case when abs(mean - expected) > margin then false when margin <= expected / 10 then true end as holds
from means
