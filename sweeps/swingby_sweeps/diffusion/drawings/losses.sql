-- The training loss and its three terms, in bits a dimension: means over the steps since the previous evaluation; one row for
-- each finished run. $1 is the sweep's id.
select
    members.point, diffusion.seed, diffusion.step,
    diffusion.loss, diffusion.loss_diffusion, diffusion.loss_prior, diffusion.loss_reconstruction
from members join diffusion on diffusion.cell_id = members.cell_id
where members.sweep_id = $1 and diffusion.status in ('ok', 'diverged')
order by members.point, diffusion.seed
