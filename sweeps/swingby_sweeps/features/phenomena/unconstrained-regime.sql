-- phenomenon: features
-- title: Features of the last layer: as few as the function needs, or more
-- experiment: unconstrained
-- regimes: minimum, uneven, extended
-- means: The final kappa lies below 0.1; the features lie in the learned space, with unequal intensities (containment
--     of 0.95 or more); or outside of it (null where the outputs are constant).
case when regime in ('minimum', 'uneven', 'extended') then regime end
