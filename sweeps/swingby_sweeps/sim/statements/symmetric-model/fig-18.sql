-- exists: The outputs at both training centres bend too, at different stages [Fig 18, F.4]
-- asks: Of every seed: do the outputs at both centres leave the straight way to their targets, and at different stages?
--     For centre p the detour is the other coordinate of f(mu_p e_p), over mu_p; each must exceed 2 % somewhere and end
--     below half of its peak, and when the detour of the concept with the smaller a_p peaks it must be before half of
--     its own way, while the other is past half of its own.
-- sweeps: figure-18
-- after: Its kind was named when results had been seen: the paper shows trajectories that do it.
-- why: In the seeds in which it does not hold the detour is too small to count.
-- setting: symmetric, {drive}, d = {d}, mu = {mu}
-- measured: detours {median(top_1):.3f} and {median(top_2):.3f} of mu_p; at that moment the weaker is at
--     {median(weaker):.2f} of its way, the stronger at {median(stronger):.2f} (medians); a detour of 2 % or less in
--     {count(*) filter (where least(top_1, top_2) <= 0.02)} seeds
with ways as (
    select
        preset, seed, drive, d, mu, a, step,
        list_transform(centre_output, lambda f: abs(f[2]) / mu[1]) as off_1,
        list_transform(centre_output, lambda f: abs(f[3]) / mu[2]) as off_2,
        list_transform(centre_output, lambda f: f[1] / mu[1]) as way_1,
        list_transform(centre_output, lambda f: f[4] / mu[2]) as way_2
    from runs
    where s = 2 and model = 'symmetric' and centre_output is not null
),
tops as (
    select
        *, list_position(off_1, list_max(off_1)) as at_1, list_position(off_2, list_max(off_2)) as at_2
    from ways
),
peaks as (
    select
        *, list_max(off_1) as top_1, list_max(off_2) as top_2,
        case when a[1] < a[2] then way_1[at_1] else way_2[at_2] end as weaker,
        case when a[1] < a[2] then way_2[at_1] else way_1[at_2] end as stronger
    from tops
)
select
    *,
    coalesce(
        top_1 > 0.02 and top_2 > 0.02 and off_1[-1] < top_1 / 2 and off_2[-1] < top_2 / 2 and weaker < 0.5
        and stronger > 0.5,
        false
    ) as holds
from peaks
