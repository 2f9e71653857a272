-- title: The kernel: lazy or rich
-- experiment: linear_net
-- regimes: lazy, crossover, rich
-- means: The directions of the tangent kernels at the start and at the end are less than 0.1 apart, more than 0.3, or
--     something between (final_kernel_distance, 1 less the cosine; null unless the modes are learned).
case when fate = 'learned' then
    case when final_kernel_distance < 0.1 then 'lazy' when final_kernel_distance > 0.3 then 'rich' else 'crossover' end
end
