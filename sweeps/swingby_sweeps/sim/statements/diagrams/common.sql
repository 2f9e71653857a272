-- asks: Of every run of the grid: does it show transient memorization? Are there points of the grid at which most seeds
--     do? Repaired after results had been seen: one point was enough, where one in forty is above by chance if all are
--     at a half; and what is not shown was said not to be.
-- found: There are conditions under which transient memorization is the rule: at {any_value(ruled)} of
--     {any_value(points)} points of the grid it shows in most seeds (the lower end of the point's interval lies above
--     one half). Over the whole grid it shows in {share:.0%} of the runs, and the bump, where there is one, is
--     {height:.3f} L_ref high (median).{any_value(twins)}
-- not found: It is not shown that transient memorization is the rule anywhere: the points of the grid at which most
--     seeds can be said to show it are no more than chance would have above one half, {any_value(ruled)} of
--     {any_value(points)}. With so many seeds a share of {any_value(told):.0%} at a point is seen in 80 % of all cases,
--     a smaller one more rarely. Over the whole grid it shows in {share:.1%} of the runs; where there is a bump, it is
--     {height:.3f} L_ref high (median).{any_value(twins)}
-- cannot be told: Nothing can be said of how common transient memorization is: no run tells.
-- holds: any_value(rare > 1 / 40)
-- after: That more than one point in forty has to show it was asked of the bare share of points; now the lower end of
--     its Wilson interval has to lie above.
--
-- slug ratio-spread-common: diagram-ratio-spread
-- slug ratio-spread-common-relu: diagram-ratio-spread-relu
-- slug dimension-width-common: diagram-dimension-width
-- slug dimension-width-common-relu: diagram-dimension-width-relu
-- slug depth-gain-common: diagram-depth-gain
-- slug depth-gain-common-relu: diagram-depth-gain-relu
-- slug width-gain-common: diagram-width-gain
-- slug width-gain-common-relu: diagram-width-gain-relu
-- slug ratio-gain-common: diagram-ratio-gain
-- slug ratio-start-common: diagram-ratio-start
-- slug rate-depth-common: diagram-rate-depth
-- slug rate-depth-common-relu: diagram-rate-depth-relu
-- slug distance-common: diagram-distance
-- slug distance-common-relu: diagram-distance-relu
-- slug spread-time-common-relu: diagram-spread-time-relu
with by_point as (
    select point, count(*) as n, count(*) filter (where swings) as k from placed group by point
),
judged as (select *, coalesce(k >= majority, false) as rules from by_point join intervals using (n)),
ruled as (  -- with the lower end of Wilson's 95 % interval of the share of points
    select *, (above + 1.921 - 1.96 * sqrt(above * (1 - above / points) + 0.9604)) / (points + 3.8415) as lower_end
    from (select count(*) as points, count(*) filter (where rules) as above from judged)
)
select
    seed, avg(swings::integer) as share, median(bump_height) filter (where swings) as height,
    (select above from ruled) as ruled, (select points from ruled) as points, (select lower_end from ruled) as rare,
    (select told from intervals where n = (select median(n)::integer from by_point)) as told,
    coalesce((select words from twins_overall), (select words from twins_lacking)) as twins
from placed
group by seed
