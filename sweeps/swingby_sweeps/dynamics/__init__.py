"""Training of many small nets at once: the library that experiments on learning dynamics share.

Every cell of a batch has a net of one shape (`shapes.NetShape`) that learns a linear map T of its inputs by the loss
L = E[1/2 |f(x) - x T|^2] over a training set. By default T is the identity on the s inputs: f(x) is compared with x in
the first s of d outputs, and with 0 in the others. The Hessian and the compiled ReLU nets know this T alone. An
experiment chooses coordinates in which its task has this form, draws points and initial weights, and combines these
parts:

| part                   | module                                                              |
|------------------------|---------------------------------------------------------------------|
| nets                   | `nets`: linear, ReLU, symmetric                                     |
| points and their order | `shapes` (mini-batches), `kernels.mixture` (Gaussian clusters)      |
| steps                  | `descent` (any device), `resident` (GPU), `kernels` (compiled, CPU) |
| gradient flow          | `flow` (any device), `kernels.flow` (compiled, CPU)                 |
| curves                 | `recorder`, `training`, `columns`                                   |
| the experiment itself  | `shells`: run, statuses, final rows, time, replay                   |
| gradient and Hessian   | `second_order`                                                      |

A cell has the same numbers alone and in any batch, in any order, up to rounding.
"""

import os

# MKL, which multiplies torch's matrices on a CPU, otherwise takes a kernel by where in memory a matrix begins, hence by
# the place of a cell in its batch: on AMD's processors numbers then differ in their last bit. It costs no speed, and
# is read at MKL's first product.
os.environ.setdefault("MKL_CBWR", "AUTO")
