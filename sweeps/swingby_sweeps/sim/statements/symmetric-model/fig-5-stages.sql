-- always: The rise of the OOD loss is the suppression of a positive minor entry [Fig 5, 4.2.2]
-- asks: Of every seed of the symmetric model whose OOD loss rises between two descents: does some minor entry that was
--     positive fall over that rise, and does the fall of the minor entries alone take more from the output than the
--     change of the major entries does? The output is f_k = sum_p w_kp mu_p; an entry's change counts with its share of
--     x^ . f. Seeds without a rise tell nothing.
-- sweeps: figure-5, figure-8, figure-9
-- after: Its kind was named when results had been seen: the theory says that each stage corresponds precisely.
-- setting: symmetric, {drive}, s = {s}, d = {d}, mu = {mu}, sigma = {sigma}
-- measured: over the rise minor entries change x^ . f by {median(minor / size):.3f} of ||x^||^2, major ones by
--     {median(major / size):.3f} (medians)
with rises as (
    select *, jacobian[list_position(step, bump_start)] as before, jacobian[list_position(step, bump_peak)] as after
    from runs
    where model = 'symmetric' and bump_start is not null
),
entries as (
    select
        preset, seed, s, d, mu, sigma, drive, i, j,
        before[s * (i - 1) + j] as w_before,
        (after[s * (i - 1) + j] - before[s * (i - 1) + j]) * mu[i] * mu[j] as change
    from rises, range(1, s + 1) rows(i), range(1, s + 1) columns(j)
)
select
    preset, seed, s, d, mu, sigma, drive,
    sum(change) filter (where i <> j) as minor, sum(change) filter (where i = j) as major,
    sum(mu[i] ** 2) filter (where i = j) as size,
    coalesce(
        bool_or(i <> j and w_before > 0 and change < 0) and minor < 0 and abs(minor) > abs(least(major, 0)), false
    ) as holds
from entries
group by all
