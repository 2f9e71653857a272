-- law: Full-batch descent without a bias nears the closed form of Theorem 4.1 on the same points as its steps shrink
--     [Theorem 4.1, C.2]
-- asks: Of every seed: how far is full-batch gradient descent on one layer without bias from the theorem's closed form
--     on the moments of the same points, at the recorded step where it is farthest, over ||x^||? What is left is the
--     length of a step, so the error is to go with the step, lr a_max, to the power one, and to be within 1 % at the
--     shortest.
-- sweeps: claim-theorem-4-1-steps
-- within: 0.01
-- slope: 1
-- after: Asked as the law that it is: it was asked at one learning rate, at which it held under the authors'
--     conventions only, whose steps are far shorter. On seeds of its own.
-- setting: mu = {mu}; steps of {max(parameter):.2g} to {min(parameter):.2g} of the fastest time constant
-- measured: largest distance {100 * median(error) filter (where longest):.2g} % of ||x^|| at the longest step, {100 *
--     median(error) filter (where shortest):.2g} % at the shortest (median seed)
select
    *, time_per_step * list_max(a) as parameter, off as error,
    parameter = min(parameter) over (partition by preset, mu) as shortest,
    parameter = max(parameter) over (partition by preset, mu) as longest
from beside_closed_form
where drive = 'gd' and moments = 'sample'
