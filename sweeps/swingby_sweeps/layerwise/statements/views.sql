-- title of claims: What the thesis on layerwise linear models claims of modes and of linear nets, and what the seeds say
-- lead of claims:  Each claim of [T] 3.3 to 3.5, A.2 and C.4 is asked in SQL of every seed. Sources are sections,
--                  equations and figures of [T]; its kind says what has to be true of the seeds.
-- title of findings: What we found: phase diagrams of modes and of linear nets
-- lead of findings:  When is the training of a layerwise linear model stage-like, when does the order of the
--                    correlations decide, which starts never arrive, and how far does the tangent kernel turn?
-- note on findings: The wordings and predicates were written on other seeds (from 1000 on) and coarse grids; the seeds
--                   shown here had not been looked at.
-- order:
--     mode-delay, at-once, sigmoid, descent, order, overlap-vanishes, pair-rule, pair-rule-printed, all-stages,
--     net-order, net-times-naive, net-times-law, net-rank, net-conserved, net-balanced, net-square-printed,
--     parity-order, parity-second, parity-third, parity-printed,
--     alpha-start,
--     balanced,
--     moment-ratio-start,
--     rho-width-narrow, rho-width-close,
--     target-imbalance

-- Every run of the parity net with the times of beta and of gamma over that of alpha, by what counts as a time.
create view parity_times as
select
    preset, seed, start, level, times[2] / times[1] as second, times[3] / times[1] as third
from (
    select
        preset, seed, start, unnest(['5 %', '50 %', '95 %']) as level,
        unnest([
            emergent_time, half_time,
            list_transform(range(1, 4), lambda i: emergent_time[i] + saturation_time[i])
        ]) as times
    from runs
    where system = 'parity3'
);
