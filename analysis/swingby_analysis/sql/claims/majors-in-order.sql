-- Of every seed: do the major entries w_pp of the symmetric model reach 0.9 in the order of falling a_p (measured
-- between records)? One that never does comes last, and two that never do count against.
with
-- include: claims/shared/runs,
-- include: claims/shared/theory,
orders as (
    select
        *,
        list_transform(measured_order, lambda p: a[p + 1]) as signals,
        list_count(list_filter(measured_t90, lambda t: isinf(t))) as never
    from with_theory
    where model = 'symmetric' and measured_order is not null
)
select
    convention, format('{}, s = {}, mu = {}, sigma = {}', drive, s, mu, sigma) as setting,
    count(*) as n,
    count(*) filter (where signals = list_reverse_sort(signals) and never <= 1) as k,
    format('some entry never arrives in {:.0f} % of seeds', 100 * avg((never > 0)::integer)) as measured
from orders
group by convention, drive, s, mu, sigma
order by convention, drive, s, mu, sigma
