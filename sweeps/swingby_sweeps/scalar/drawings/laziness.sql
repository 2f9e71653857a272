-- Settled runs of the wide net: S/Sigma_0, the change of the kernel as measured and as predicted, and how far theta was
-- from that of the frozen kernel, over |S - S_0|. $1 is the sweep's id.
select
    seed, abs(target_ratio) as rho, abs(ln(kernel_ratio)) as change, abs(ln(predicted_kernel_ratio)) as predicted,
    wide_scalar.nonlinearity
from members
join wide_scalar using (cell_id)
join outcomes_wide_regime as found on found.cell_id = wide_scalar.cell_id and found.of_shard = wide_scalar.shard
where members.sweep_id = $1 and wide_scalar.status = 'ok' and kernel_ratio is not null and wide_scalar.target <> 0
order by rho, seed
