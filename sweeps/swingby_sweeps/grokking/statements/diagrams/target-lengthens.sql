-- sweeps: diagram-weight-target
-- asks: Of every seed, over runs from weights of five to six times the usual size that generalise: what is the mean of
--     the log of the delay where the target is at most as large as the output of the start (`target_ratio` of the
--     detector `regimes`), up to ten times as large, and larger still? Suggested by the diagram, and asked again of
--     fresh seeds.
-- fresh fresh-weight-target: A target somewhat larger than the start's output lengthens the delay
-- found: From weights of five to six times the usual size the delay is longest at middle targets: {small:.1f} where the
--     target is at most as large as the output of the start, {middle:.1f} up to ten times as large, {large:.1f} beyond
--     (geometric means). The training accuracy arrives earlier, at epoch {train_middle:.0f} instead of
--     {train_small:.0f}, and the test accuracy not.
-- not found: From weights of five to six times the usual size the delay is not longest at middle targets: [numbers]
-- cannot be told: Whether, from weights of five to six times the usual size, the delay is longest at middle targets
--     cannot be told: [numbers]
-- numbers: {small:.1f} where the target is at most as large as the output of the start, {middle:.1f} up to ten times as
--     large, {large:.1f} beyond (geometric means).
with means as (
    select
        seed, avg(ln(delay)) filter (where target_ratio <= 1) as low,
        avg(ln(delay)) filter (where target_ratio > 1 and target_ratio < 10) as mid,
        avg(ln(delay)) filter (where target_ratio >= 10) as high,
        exp(avg(ln(train_epoch)) filter (where target_ratio <= 1)) as train_small,
        exp(avg(ln(train_epoch)) filter (where target_ratio > 1 and target_ratio < 10)) as train_middle
    from runs
    where weight_scale between 5 and 6 and delay is not null
    group by seed
)
select
    seed, exp(low) as small, exp(mid) as middle, exp(high) as large, train_small, train_middle,
    mid - low as effect, mid - high as effect_2
from means
