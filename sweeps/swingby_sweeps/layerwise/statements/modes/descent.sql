-- law: Gradient descent nears these times as its steps shrink [(3.12), said of gradient flow]
-- asks: Of every seed: by how much does the worst time of full-batch descent miss the closed form, as lr shrinks?
-- sweeps: claim-layerwise-modes
-- within: 0.02
-- slope: 1
-- setting: layers = {layers}, steps of {max(parameter):.3g} to {min(parameter):.3g} of 1 / E_1
-- measured: largest relative error of a time {max(error):.3g} at the longest step, {min(error):.3g} at the shortest
select *, lr as parameter, law_error as error from runs where drive = 'gd'
