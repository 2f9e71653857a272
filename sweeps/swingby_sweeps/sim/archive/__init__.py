"""Recorded results of the phase diagrams, one file a sweep; read by `swingby findings --recorded` and `swingby unpack`.

Written by `swingby pack diagram-... --out sweeps/sim/recorded --curves 100`, without what theory predicts of single
runs (`theory.predicted_t90`, `_alone`, `_delay`, `_terminal`, `_minor`, `_order`, `theory.omega`,
`theory.largest_start`, `theory.least_training_loss`) and without terminal rates (`descents.terminal_rate`, `_r2`,
`_predicted`, and those of `minor`). If a sweep or a detector changes, its file has to be written anew: a test says so.
"""
