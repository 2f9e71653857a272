-- always: A linear net learns as many modes as its target has, or as its hidden layer allows [3.5.1, 3.5.2]
-- asks: Of every seed: are min(p, 3) modes learned at the end, those of the largest rho, and all others at most a
--     hundredth?
-- sweeps: claim-layerwise-rank
-- setting: {drive}, p = {width}
-- measured: {min(rank)} to {max(rank)} of 3 modes; D_eff {min(final_effective_rank):.3f} to
--     {max(final_effective_rank):.3f}
select
    *, rank = least(width, 3) and list_min(last[1:least(width, 3)]) > 0.99
    and coalesce(list_max(list_transform(last[least(width, 3) + 1:], lambda r: abs(r))) < 0.01, true) as holds
from (select *, strength[-1] as last from runs)
