-- always: At the best width there is sufficient time to learn most of the basis functions [4.3.4]
-- asks: Of every alpha: are more than half of the model's skills above S/2 at the best width, where there are
--     infinitely many?
-- sweeps: table-4-1
-- setting: {model}
-- measured: {100 * min(learned_share):.0f} to {100 * max(learned_share):.0f} % of the basis functions are above S/2
select *, learned_share > 0.5 as holds from endless where bottleneck = 'compute'
