-- The mean places of each class's images in concept space at every evaluation, by each judge that was recorded: one row for each
-- finished run, four classes an evaluation (red-big, blue-big, red-small, blue-small). $1 is the sweep's id.
select members.point, diffusion.seed, columns(lambda name: name in (
    'trained', 'judged', 'judged_trained', 'step', 'found', 'color_right', 'size_right', 'color', 'color_sd', 'size', 'size_sd',
    'trained_color', 'trained_color_sd', 'trained_size', 'trained_size_sd'
))
from members join diffusion on diffusion.cell_id = members.cell_id
where members.sweep_id = $1 and diffusion.status in ('ok', 'diverged')
order by members.point, diffusion.seed
