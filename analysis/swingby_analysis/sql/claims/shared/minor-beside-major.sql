-- Of every seed of the symmetric model each major entry w_jj, from the second in falling a_p on, with the minor entry
-- w_ij that joins it to the one before: the first records at which w_jj is 0.1 and 0.5 (null: never), and |w_ij| there.
ranked as (
    select
        *,
        list_transform(list_sort(list_zip(a, range(1, s + 1)), 'desc'), lambda pair: pair[2]) as places
    from runs
    where model = 'symmetric' and s >= 2 and jacobian is not null
),
pairs as (
    select
        convention, seed, drive, s, mu, sigma, step,
        list_transform(jacobian, lambda w: abs(w[s * (places[rank] - 1) + places[rank + 1]])) as minor,
        list_transform(jacobian, lambda w: w[s * (places[rank + 1] - 1) + places[rank + 1]]) as major
    from ranked, range(1, s) r(rank)
),
times as (
    select
        *, list_position(minor, list_max(minor)) as peak,
        list_position(list_transform(major, lambda w: w >= 0.1), true) as grows,
        list_position(list_transform(major, lambda w: w >= 0.5), true) as half
    from pairs
)
