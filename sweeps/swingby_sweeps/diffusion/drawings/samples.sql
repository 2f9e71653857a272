-- Generated images of one run at each point, that of the first seed that kept some: a PNG for each evaluation with images, one
-- row of images for each class. $1 is the sweep's id.
select members.point, diffusion.seed, diffusion.trained, diffusion.step, diffusion.samples
from members join diffusion on diffusion.cell_id = members.cell_id
where members.sweep_id = $1 and diffusion.status in ('ok', 'diverged')
    and len(list_filter(diffusion.samples, lambda png: octet_length(png) > 0)) > 0
qualify row_number() over (partition by members.point order by diffusion.seed) = 1
order by members.point
