-- always: The major entries grow in the order of falling a_p [4.2.1]
-- asks: Of every seed: do the major entries w_pp of the symmetric model reach 0.9 in the order of falling a_p (measured
--     between records)? One that never does comes last, and two that never do count against.
-- sweeps: figure-5, figure-8, figure-9
-- setting: {drive}, s = {s}, d = {d}, mu = {mu}, sigma = {sigma}
-- measured: some entry never arrives in {100 * avg((never > 0)::integer):.0f} % of seeds
select
    *,
    list_transform(measured_order, lambda p: a[p + 1]) as signals,
    list_count(list_filter(measured_t90, lambda t: isinf(t))) as never,
    signals = list_reverse_sort(signals) and never <= 1 as holds
from runs
where model = 'symmetric' and measured_order is not null
