-- The fitted shares of a refined sweep, a row a point and outcome.
-- $1 is the sweep's id.
select outcome, point, k, n, mean, low, high, above, verdict from share_fit where sweep_id = $1 order by outcome, point
