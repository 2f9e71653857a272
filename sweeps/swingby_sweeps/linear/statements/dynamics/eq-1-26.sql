-- law: Flow learns mode k as 1 - e^(-eta rho_k t), on infinitely many points [eq 1.26]
-- asks: Does the largest distance over time between <f^|f*>/<f*|f*> of a sample and that of eq 1.26 vanish with 1/n?
-- sweeps: claim-linear-population
-- within: 0.1
-- slope: 0.5
-- setting: ten Gaussian features
-- measured: largest distance at 30, 120, 480 points: {avg(population_gap) filter (where n = 30):.3f},
--     {avg(population_gap) filter (where n = 120):.3f}, {avg(population_gap) filter (where n = 480):.3f}
select *, 1 / n as parameter, population_gap as error from runs
