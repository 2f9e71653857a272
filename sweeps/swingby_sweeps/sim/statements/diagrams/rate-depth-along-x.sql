-- asks: Of every seed, in the mean over depths of two layers and more: in what share of its runs is there transient
--     memorization, at rates far below the line 2 / (L a_max) and at rates near it? Where full-batch twins were
--     recorded: in what share of these? Both have to say so. Beyond the line no solution is flat enough, and a rise
--     there is not called transient memorization. Repaired after results had been seen: before, the lowest third of the
--     rates was compared with the highest, at which deep nets diverge or cannot be called, so that the difference told
--     of the grid and not of the nets.
-- found: At one depth, transient memorization is more common at rates from a half of 2 / (L a_max) up to that line than
--     at rates up to a quarter of it: {high:.0%} of the runs that do not diverge against {low:.0%}, a difference of
--     {difference:.0%}.{any_value(twins)}
-- contrary: At one depth, transient memorization is more common at rates up to a quarter of 2 / (L a_max) than from a
--     half of it up to that line: {low:.0%} of the runs that do not diverge against {high:.0%}, a difference of
--     {less:.0%}.{any_value(twins)}
-- cannot be told: Whether, at one depth, transient memorization is more common at rates up to a quarter of 2 / (L
--     a_max) or from a half of it up to that line cannot be told: {low:.0%} of the runs that do not diverge against
--     {high:.0%}, a difference of {difference:.0%}.{any_value(twins)}
--
-- slug rate-depth-along-x: diagram-rate-depth
-- slug rate-depth-along-x-relu: diagram-rate-depth-relu
with sided as (
    select
        seed, layers,
        avg(swings::integer) filter (where lr <= steepest_rate / 4) as low,
        avg(swings::integer) filter (where lr >= steepest_rate / 2) as high,
        avg(twin_swings::integer) filter (where lr <= steepest_rate / 4) as twin_low,
        avg(twin_swings::integer) filter (where lr >= steepest_rate / 2) as twin_high
    from placed
    where layers > 1 and lr < steepest_rate and outcome is distinct from 'diverged'
    group by seed, layers
),
seeds as (
    select
        seed, avg(low) as low, avg(high) as high, avg(twin_low) as twin_low, avg(twin_high) as twin_high
    from sided
    where low is not null and high is not null
    group by seed
)
select
    seed, low, high, high - low as difference, low - high as less,
    high - low as effect, coalesce(twin_high - twin_low, high - low) as effect_2,
    coalesce(
        (
            select format(
                ' Of their full-batch twins {:.0f} % near the line against {:.0f} % far below it.',
                100 * avg(twin_high), 100 * avg(twin_low)
            )
            from seeds
        ),
        (select words from twins_lacking)
    ) as twins
from seeds
