-- title: Laziness: the kernel hardly moves
-- experiment: linear_net
-- means: The tangent kernels at the start and at the end point in one direction to within 0.1 (final_kernel_distance, 1
--     less the cosine), although the modes are learned.
case when fate = 'learned' then final_kernel_distance < 0.1 end
