-- slug features-depth-loosens: diagram-features-random-labels
-- asks: Of every seed, in the mean over the widths at which nets of four and of six layers learn nine tenths of their
--     labels: what is kappa of the test sample at the end with four layers, and with six?
-- found: Under random labels features are tighter with four layers than with six: kappa {four:.3f} and {six:.3f} (of
--     widths at which both learn nine tenths of their labels).
-- contrary: Under random labels features are tighter with six layers than with four: kappa {six:.3f} and {four:.3f} (of
--     widths at which both learn nine tenths of their labels).
-- cannot be told: Whether features of random labels are tighter with four layers or with six cannot be told: kappa
--     {four:.3f} and {six:.3f}.
-- after: Added after the diagram had been looked at; the README said that depth leads back into the minimum feature
--     regime.
with pairs as (
    select
        seed, width, max(final_kappa_cka) filter (where layers = 4) as four_layers,
        max(final_kappa_cka) filter (where layers = 6) as six_layers
    from runs
    where final_train_accuracy >= 0.9
    group by seed, width
)
select seed, avg(four_layers) as four, avg(six_layers) as six, six - four as effect
from pairs
where four_layers is not null and six_layers is not null
group by seed
