-- sweeps: diagram-memorization-rare
-- asks: Of every seed, at the time to memorization: how much larger is the lead of the rare component, the share of copies
--     on its side less that on the other, where it has an eighth of the points than where it has a quarter? In the mean
--     over the sizes of which all of the seed's runs memorize.
-- found: The rarer a component, the sooner its points are copied: [numbers]
-- contrary: The rarer a component, the later its points are copied: [numbers]
-- cannot be told: Whether points are copied sooner the rarer their component is cannot be told: [numbers]
-- numbers: when a tenth of all samples are copies, the share on the rare side is larger by {eighth:.3f} where the rare
--     component has an eighth of the points, by {quarter:.3f} where it has a quarter, and by {half:.3f} where it has half.
with sizes as (
    select
        seed, points, any_value(lead) filter (where rare = 0.125) as eighth,
        any_value(lead) filter (where rare = 0.25) as quarter, any_value(lead) filter (where rare = 0.5) as half
    from leads
    group by seed, points
    having count(*) = 3
)
select
    seed, avg(eighth) as eighth, avg(quarter) as quarter, avg(half) as half, avg(eighth - quarter) as effect
from sizes
group by seed
