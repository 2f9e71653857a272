-- law: As the start shrinks, one mode saturates before the next one begins [(3.14)]
-- asks: Of every seed: how strong is the second mode when both strengths add to 1, as the strength at the start
--     shrinks? By the pair rule the overlap goes with u(0) to the power (E_1 - E_2) / (E_1 + E_2), here one third.
-- sweeps: claim-layerwise-stages
-- within: 0.05
-- slope: 0.3333
-- setting: E_2 / E_1 = {ratio}
-- measured: overlap {median(error) filter (where parameter > 0.05):.3g} at u(0) = {max(parameter):.2g}, {median(error)
--     filter (where parameter < 1e-7):.3g} at u(0) = {min(parameter):.2g} (medians)
select *, second_moments[2] / second_moments[1] as ratio, start * start as parameter, overlap as error from runs
