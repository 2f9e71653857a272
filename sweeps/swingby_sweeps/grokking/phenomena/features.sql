-- title: Features of the last layer: as few as the function needs, or more
-- experiment: mlp_regimes
-- regimes: minimum, uneven, extended
-- means: The final kappa_cka lies below 0.1; the features lie in the learned space, with unequal intensities
--     (containment of 0.95 or more); or outside of it. Null where features were not recorded, and as in the experiment
--     features.
case when regime in ('minimum', 'uneven', 'extended') then regime end
