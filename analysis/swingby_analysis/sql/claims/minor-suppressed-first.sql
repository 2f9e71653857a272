-- Of every seed: when a major entry of the symmetric model, from the second in falling a_p on, starts to grow (w_jj
-- reaches 0.1), is the minor entry that joins it to the one before past its peak in size and down to half of it or less
-- (E.1: it starts to grow only after the corresponding minor entry is suppressed)? A pair whose major entry never gets
-- there does not count, and a seed without any other counts against. Repaired after results were seen: it was judged at
-- w_jj = 0.5, and by whether the peak was past, which is less than suppressed; that is a claim of its own now.
with
-- include: claims/shared/runs,
-- include: claims/shared/minor-beside-major,
seeds as (
    select
        convention, seed, drive, s, mu, sigma,
        bool_and(coalesce(peak <= grows and minor[grows] <= minor[peak] / 2, true)) as holds,
        bool_and(coalesce(peak <= half and minor[half] <= minor[peak] / 2, true)) as later,
        median(minor[grows] / minor[peak]) as left_over, count(grows) as growing, count(half) as halves
    from times
    group by all
)
select
    convention, format('{}, s = {}, mu = {}, sigma = {}', drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where holds and growing > 0) as k,
    format(
        'the minor is at {:.2f} of its peak when the major is at 0.1 (median pair); at half or less by the time the '
        || 'major is at 0.5 in {} seeds',
        median(left_over), count(*) filter (where later and halves > 0)
    ) as measured
from seeds
group by convention, drive, s, mu, sigma
order by convention, drive, s, mu, sigma
