-- law: As the start shrinks the terminal rates of the symmetric flow, of all entries, near those of the theory [4.2.1,
--     eq 4.3]
-- asks: Of every seed: how far are the terminal rates of the symmetric flow from those of the theory, 2 a_k and a_i +
--     a_j, in the time of eq 4.3, at the entry where they are farthest, relative to these? The error is to go to zero
--     with the scale of W(0), omega = init_gain^2, and to be within 3 % at the smallest scale of the grid. Rows by mu.
--     Runs without a fit tell nothing. Repaired after results were seen: a run may have no rate of a minor entry, and
--     its NULL took the whole list along.
-- sweeps: claim-omega
-- within: 0.03
-- after: Added when the rates of the figures were seen to miss. The query was repaired: runs without any rate of a
--     minor entry fell out of it. Asked as the law that it is, over all scales, where it was asked of the smallest one
--     alone.
-- setting: symmetric flow, mu = {mu}
-- measured: off by {100 * median(error) filter (where init_gain = widest):.2g} % at most from U normal of scale
--     {max(init_gain):.3g}, by {100 * median(error) filter (where init_gain = narrowest):.2g} % from
--     {min(init_gain):.3g} (median seeds), there by {100 * max(error) filter (where init_gain = narrowest):.2g} % in
--     the worst
with rates as (
    select
        preset, seed, mu, init_gain, unnest(terminal_rate || coalesce(minor_rate, [])) as rate,
        unnest(terminal_predicted || coalesce(minor_predicted, [])) as predicted
    from runs
    where model = 'symmetric' and drive = 'flow' and init = 'normal' and terminal_rate is not null
),
farthest as (
    select preset, seed, mu, init_gain, max(abs(rate / predicted - 1)) as error
    from rates
    where rate is not null and predicted is not null
    group by preset, seed, mu, init_gain
)
select
    *, init_gain ** 2 as parameter, min(init_gain) over one as narrowest, max(init_gain) over one as widest
from farthest
window one as (partition by preset, mu)
