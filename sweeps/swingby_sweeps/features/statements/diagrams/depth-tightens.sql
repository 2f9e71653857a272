-- slug features-depth-tightens: diagram-features-random-labels
-- asks: Of every seed, in the mean over the widths at which nets of two and of six layers learn nine tenths of their
--     labels: what is kappa of the test sample at the end with two layers, and with six?
-- fresh fresh-features-random-labels: Depth tightens features of random labels
-- found: Under random labels more layers make features tighter: kappa {shallow:.2f} with two layers, {deep:.2f} with
--     six (of widths at which both learn nine tenths of their labels).
-- contrary: Under random labels more layers make features looser: kappa {shallow:.2f} with two layers, {deep:.2f} with
--     six (of widths at which both learn nine tenths of their labels).
-- cannot be told: Whether more layers make features of random labels tighter cannot be told: kappa {shallow:.2f} with
--     two layers, {deep:.2f} with six.
-- after: The mean of either depth was over all widths at which that depth learns its labels, which are not the same
--     widths; now nets of equal width are compared. The first fresh seeds were of widths at which two layers learn
--     nothing, so that they could not be asked; they were replaced by others.
with pairs as (
    select
        seed, width, max(final_kappa_cka) filter (where layers = 2) as two,
        max(final_kappa_cka) filter (where layers = 6) as six
    from runs
    where final_train_accuracy >= 0.9
    group by seed, width
)
select seed, avg(two) as shallow, avg(six) as deep, shallow - deep as effect
from pairs
where two is not null and six is not null
group by seed
