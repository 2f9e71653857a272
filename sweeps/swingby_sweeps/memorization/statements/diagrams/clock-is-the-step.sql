-- sweeps: diagram-memorization-batch
-- asks: Of every seed: what is the slope of ln tau_mem over the log of the batch size, in the mean over the sizes at which
--     it memorizes at every batch size, and is it nearer to 0, where the step is the clock, than to -1, where the pass
--     through the training set is?
-- found: The clock of memorization is the step rather than the pass: [numbers]
-- contrary: The clock of memorization is the pass rather than the step: [numbers]
-- cannot be told: Whether the clock of memorization is the step or the pass cannot be told: [numbers]
-- numbers: over batch sizes tau_mem goes as their power {steps:.2f} in steps, and {passes:.2f} in passes.
with slopes as (
    select seed, points, regr_slope(ln(tau_mem), ln(batch_size)) as slope
    from runs
    group by seed, points
    having count(tau_mem) = count(*)
)
select seed, avg(slope) as steps, 1 + steps as passes, abs(passes) - abs(steps) as effect from slopes group by seed
