-- sweeps: diagram-target-imbalance
-- asks: Of every run with W_2 W_2^T - W_1^T W_1 = lambda I and a target of rank one: is 1 - cos of its tangent kernels,
--     at the start and at the end, within a thousandth of the closed form?
-- found: How far the tangent kernel of a square net turns follows from target over imbalance and its size alone, as the
--     closed form says: the largest difference is {max(off):.1g}. It ends near 1 - 2 / sqrt(2 d + 2) where the target
--     is large: {any_value(rich):.3f} at d = 12, against {any_value(lazy):.4f} where it is a thirtieth of the
--     imbalance.
-- not found: The turn of the tangent kernel differs from the closed form by up to {max(off):.1g}.
-- cannot be told: No run tells how far its kernel turned.
-- holds: max(off) < 0.001
select
    abs(final_kernel_distance - predicted_kernel_distance) as off,
    (select median(final_kernel_distance) from runs where d = 12 and rho[1] > 29) as rich,
    (select median(final_kernel_distance) from runs where d = 12 and rho[1] < 0.031) as lazy
from runs where final_kernel_distance is not null
