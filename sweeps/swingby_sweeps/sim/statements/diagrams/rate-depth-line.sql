-- asks: Of every run beyond and before the learning rate 2 / (L a_p), a_p the largest: does it get to the answer (in at
--     most a tenth of the runs beyond, by the upper end of Wilson's 95 % interval), does it diverge? No solution of a
--     linear net of L layers has a largest curvature below L a_p. And from which rate on do most seeds diverge, in
--     units of that line, by depth?
-- found: The line lr = 2 / (L a_max), beyond which no solution is flat enough, is where getting to the answer ends: of
--     {count(*) filter (where beyond > 1)} runs beyond it {count(*) filter (where beyond > 1 and found)} end within a
--     percent of L_ref, none of them farther out than {max(beyond) filter (where found):.2f} times the line, [numbers]
-- not found: Getting to the answer does not end at the line lr = 2 / (L a_max): of {count(*) filter (where beyond > 1)}
--     runs beyond it {count(*) filter (where beyond > 1 and found)} end within a percent of L_ref, up to {max(beyond)
--     filter (where found):.2f} times the line, [numbers]
-- cannot be told: Fewer than 20 runs lie beyond lr = 2 / (L a_max).
-- numbers: and {count(*) filter (where beyond > 1 and outcome = 'diverged')} diverge; of {count(*) filter (where beyond
--     <= 1)} before it {count(*) filter (where beyond <= 1 and found)} get to the answer and {count(*) filter (where
--     beyond <= 1 and outcome = 'diverged')} diverge. The lowest rate at which half of the seeds diverge lies at
--     {any_value(typical):.2f} times the line (median of the {any_value(depths)} depths at which there is one;
--     {any_value(least):.2f} to {any_value(largest):.2f}).
-- holds: case when count(*) filter (where beyond > 1) >= 20 then any_value(upper_end) <= 0.1 end
-- after: The share of runs beyond the line that get to the answer was held against a tenth by itself, of however few
--     runs; now the upper end of its Wilson interval is.
--
-- slug rate-depth-line: diagram-rate-depth
-- fresh fresh-rate-depth: The learning rate has an end that theory gives
--
-- slug rate-depth-line-relu: diagram-rate-depth-relu
with rates as (select *, lr / steepest_rate as beyond from placed),
shares as (
    select layers, lr, any_value(beyond) as beyond, avg((outcome = 'diverged')::integer) as share
    from rates
    group by layers, lr
),
firsts as (select layers, min(beyond) filter (where share >= 0.5) as beyond from shares group by layers),
counted as (select count(*) as n, count(*) filter (where found) as k from rates where beyond > 1),
ends as (  -- of Wilson's 95 % interval of the share beyond
    select if(n > 0, (k + 1.921 + 1.96 * sqrt(k * (1 - k / n) + 0.9604)) / (n + 3.8415), null) as upper_end from counted
)
select
    rates.*, typical, depths, least, largest, upper_end
from rates, ends, (
    select median(beyond) as typical, count(beyond) as depths, min(beyond) as least, max(beyond) as largest from firsts
)
