"""The parameters of a regression on fixed features, and the checks on them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from swingby.model.params import Fault, Params, Vector

STREAM_VERSION = 1
"""Raised whenever the numbers of an existing cell change; part of a cell's id."""
IMAGES = 1797
"""Images in scikit-learn's set of handwritten digits."""

Features = Literal["gaussian", "rademacher", "fourier", "sine", "hermite", "kernel"]


class LinearParams(Params):
    """Regression of y = f*(x) + noise on features sqrt(rho_k) e_k(x), e_k orthonormal ([T] 1.5, 1.6)."""

    dtype: Literal["float32", "float64"] = Field("float64", description="arithmetic of the run; float64 alone")
    features: Features = Field(
        "gaussian",
        description="e_k(x). gaussian, rademacher: independent normal numbers or signs; fourier: sqrt(2) cos and sin "
        "of 2 pi h x, h = 1, 2, ...; sine: sqrt(2) sin(2 pi k x); both of x uniform on [0, 1]; hermite: H_k/sqrt(k!) "
        "of x normal; kernel: eigenfunctions of a kernel on images of digits",
    )
    spectrum: Literal["power", "two_level", "explicit"] = Field(
        "power", description="rho_k. power: k^-alpha; two_level: 1 for `d` modes, all others equal; explicit: `rho`"
    )
    alpha: float = Field(1.5, ge=-12, le=12, title="alpha", description="exponent of the intensities, rho_k = k^-alpha")
    d: int = Field(5, ge=1, le=4999, title="strong modes d", description="modes of intensity 1, the first ones")
    tail: float = Field(
        1.0, gt=0, le=1e6, title="tail T", description="sum T of the intensities of the modes beyond the first d"
    )
    rho: Vector | None = Field(None, description="the intensities, one for each of the p modes, 0 or more")
    n: int = Field(100, ge=4, le=1000, title="points n", description="training points")
    p: int = Field(2000, ge=2, le=5000, title="modes p", description="modes, or features; of a kernel all there are")
    kernel: Literal["rbf", "laplace", "polynomial"] = Field(
        "rbf",
        description="rbf: exp(-r^2/2b^2); laplace: exp(-r/b); polynomial: (x.x'/m + offset)^degree, m = mean |x|^2",
    )
    bandwidth: float = Field(
        1.0, ge=0.01, le=100, description="b over the mean distance of two images (root of the mean square)"
    )
    degree: int = Field(3, ge=1, le=20, description="degree of the polynomial kernel")
    offset: float = Field(1.0, ge=-1e3, le=1e3, description="offset of the polynomial kernel, 0 or more")
    pool: int = Field(
        IMAGES, ge=8, le=IMAGES, description="images N that the kernel has; they are the whole distribution"
    )
    target: Literal["mode", "power", "explicit", "labels"] = Field(
        "mode",
        description="c_k. mode: one mode; power: amplitude k^-beta; explicit: `coefficients`; labels: +1 for an even "
        "digit, -1 for an odd one (kernel)",
    )
    mode: int = Field(1, ge=1, le=5000, title="target mode", description="the mode of the target, counted from 1")
    amplitude: float = Field(1.0, ge=-1e6, le=1e6, description="c_k of the target's mode, or of mode 1")
    beta: float = Field(1.0, ge=-4, le=12, title="beta", description="exponent of the target, c_k = amplitude k^-beta")
    coefficients: Vector | None = Field(None, description="c_1, c_2, ... of the target; those that are left out are 0")
    sigma: float = Field(0.3, ge=0, le=1e6, title="noise sigma", description="size of the noise on the labels")
    sigma_is: Literal["sd", "variance"] = Field(
        "sd", description="what sigma is: [T] 1.38 writes N(0, sigma), and does not say"
    )
    ridge: float = Field(
        0.0, ge=0, le=1e9, title="ridge", description="delta of (K + delta I)^-1, K the kernel of the sample; 0: none"
    )
    drive: Literal["flow", "descent"] = Field(
        "flow", description="gradient flow, or gradient descent, of 1/(2n) sum (f - y)^2 + ridge/(2n) |w|^2 from w = 0"
    )
    eta: float = Field(1.0, gt=0, le=1e9, title="learning rate", description="learning rate eta of a step of descent")
    end_time: float = Field(1e4, gt=0, le=1e15, title="eta t", description="eta t at which the curves end")
    decades: float = Field(
        6.0, gt=0, le=18, description="powers of ten of eta t in the curves, which end at `end_time`"
    )
    points: int = Field(60, ge=2, le=1000, description="points of the curves, spaced evenly in the logarithm of eta t")
    stopped: bool = Field(
        False, description="the fit that is judged is that at `end_time`; else that of unlimited time, the least norm"
    )
    draws: int = Field(
        1, ge=1, le=10_000, description="training sets over which learnabilities are averaged; the first one is fitted"
    )

    @property
    def modes(self) -> int:
        """Number of modes."""
        return self.pool if self.features == "kernel" else self.p

    @property
    def variance(self) -> float:
        """Variance of the noise."""
        from . import theory  # it imports scipy, and parameters are read where nothing is computed

        return theory.variance(self.sigma, self.sigma_is)

    def _faults(self) -> Iterator[Fault]:
        yield from self._of_features()
        yield from self._of_target()

    def _of_features(self) -> Iterator[Fault]:
        """Faults of the arithmetic, the features and their intensities."""
        if self.dtype != "float64":
            yield "dtype", "the closed form is computed in float64; allowed: float64"
        if self.features == "kernel":
            if self.n > self.pool:
                text = f"{self.n} points are drawn without replacement of {self.pool} images; allowed: up to `pool`"
                yield "n", text
            if self.kernel == "polynomial" and self.offset < 0:
                text = "a polynomial kernel with a negative offset is not positive; allowed: 0 or more"
                yield "offset", text
            return
        if self.spectrum == "two_level" and self.d >= self.p:
            text = f"{self.d} strong modes of {self.p} leave none for the tail; allowed: less than p"
            yield "d", text
        if self.spectrum == "explicit":
            if self.rho is None or len(self.rho) != self.p:
                text = f"{len(self.rho or ())} intensities for {self.p} modes; allowed: one for each, p = {self.p}"
                yield "rho", text
            elif min(self.rho) < 0 or max(self.rho) == 0:
                text = "an intensity is a squared norm, and features cannot all be 0; allowed: 0 or more, one above 0"
                yield "rho", text

    def _of_target(self) -> Iterator[Fault]:
        """Faults of the target."""
        if self.target == "labels" and self.features != "kernel":
            text = f"only images have labels, and features are {self.features}; allowed: mode, power, explicit"
            yield "target", text
        if self.target == "mode" and self.mode > self.modes:
            yield "mode", f"there are {self.modes} modes; allowed: 1 to {self.modes}"
        if self.target in ("mode", "power") and self.amplitude == 0:
            text = "a target of 0 is constant, and errors are measured in its size; allowed: any other number"
            yield "amplitude", text
        if self.target == "explicit":
            coefficients = self.coefficients or ()
            if not 1 <= len(coefficients) <= self.modes:
                text = f"{len(coefficients)} coefficients for {self.modes} modes; allowed: 1 to {self.modes} of them"
                yield "coefficients", text
            elif not any(coefficients):
                text = "a target of 0 is constant, and errors are measured in its size; allowed: one that is not 0"
                yield "coefficients", text
