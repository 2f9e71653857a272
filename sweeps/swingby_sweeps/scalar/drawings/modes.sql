-- The modes a_j b_j / Z of the first seed at each point, at every recorded step, and the end of the run in units of
-- 1/(c E K_inf). $1 is the sweep's id.
select
    members.point, wide_scalar.seed, wide_scalar.target, wide_scalar.step, wide_scalar.mode, found.regime,
    found.step_at_end
from members
join wide_scalar using (cell_id)
join outcomes_wide_regime as found on found.cell_id = wide_scalar.cell_id and found.of_shard = wide_scalar.shard
where members.sweep_id = $1 and wide_scalar.status = 'ok' and wide_scalar.drive <> 'gd'
qualify row_number() over (partition by members.point order by wide_scalar.seed) = 1
order by members.point
