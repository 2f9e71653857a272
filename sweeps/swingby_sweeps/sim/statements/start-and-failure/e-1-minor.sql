-- claim: A minor entry of a normal start has mean zero
-- source: eq E.1
-- order: 7.2
-- sweeps: claim-initial-weights
-- rule: one statement about all seeds
-- after: The query was repaired: one statement about all seeds was counted as a share of them. It held wherever the
--     seeds did not speak against it; now they also have to be enough to tell, to a tenth.
-- setting: U normal, d' = {width}, tau = {tau:.3g}
-- measured: positive in {any_value(positive):.0f} % of seeds; w_12(0): {any_value(mean):.5f} +-
--     {coalesce(format('{:.5f}', any_value(se)), 'unknown')} (mean and standard error of {any_value(seeds)} seeds);
--     expected 0.00000
--
-- E.1: is the mean of a minor entry of W(0) zero, where U is normal? A statement about all seeds together: true if the
-- mean of w_12 lies within 2.58 standard errors of zero, which are at most a tenth of a major entry's mean d' tau^2.
-- Rows by d'.
-- Repaired after results were seen: it counted all seeds where the mean agreed, and agreed however few the seeds were;
-- the tenth is that of the claim about single seeds.
with means as (
    select
        preset, width, tau, count(*) as seeds, avg(w_12) as mean, 100 * avg((w_12 > 0)::integer) as positive,
        stddev_samp(w_12) / sqrt(count(*)) as se, any_value(e_1_major) as major
    from normal_starts
    group by preset, width, tau
)
select
    *, coalesce(2.58 * se, 'inf'::double) as margin,
    case when abs(mean) > margin then false when margin <= major / 10 then true end as holds
from means
