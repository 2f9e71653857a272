-- sweeps: diagram-unconstrained-start
-- asks: Of every seed and decay: the start with the least time of collapse. Smaller ones take longer to grow, larger
--     ones wait for the decay of what does not fit.
-- fresh fresh-unconstrained-start: Collapse comes first from starts of a tenth to the whole of the end's size, whatever
--     the decay
-- found: Collapse is fastest neither from the smallest nor from the largest starts: of the decays up to .003 and all
--     seeds the fastest start lies between .1 and 1 in {avg(inside):.0%}, at a median of {median(best):.2g}.
-- not found: Of the decays up to .003 and all seeds the start from which collapse comes first lies between .1 and 1 in
--     {avg(inside):.0%} only, at a median of {median(best):.2g}.
-- cannot be told: No seed collapses.
-- holds: avg(inside) >= 0.95
select *, (best between 0.1 and 1)::integer as inside
from (
    select seed, decay_w, arg_min(start, collapse_time) as best
    from runs
    where collapse_time is not null and decay_w <= 0.003
    group by seed, decay_w
)
