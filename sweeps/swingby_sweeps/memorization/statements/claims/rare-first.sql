-- in the mean: Points of sparse regions are copied first [M, second hand]
-- asks: Of every seed, at the time to memorization: how much larger is the share of copies among the samples on the side
--     of the rare component than among the others? Both components are Gaussians of unit covariance, so that the rare one
--     has fewer training points in a region of the same size.
-- sweeps: diagram-memorization-rare
-- setting: rare component of {rare:g}, {points} training points
-- measured: of the samples on the side of the rare component {avg(of_rare):.2f} are copies, of the others
--     {avg(of_frequent):.2f} (means)
select preset, seed, points, rare, of_rare, of_frequent, lead as effect from leads where rare < 0.5
