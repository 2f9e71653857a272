"""The columns of a diffusion run: curves with one entry for each evaluation, recordings on request, and scalars."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from swingby.model.experiment import Column

_LIST, _FOUR = pa.list_(pa.float64()), pa.list_(pa.list_(pa.float64()))
_BITS = "bits a dimension"
_OF = "of the four classes red-big, blue-big, red-small, blue-small"
_TRAINED = "of the images generated of trained classes"
_RMS = "root mean square over pixels and channels"
_AT = "mean over eight log SNR between the initial ends of the schedule"

CURVES: Mapping[str, Column] = {
    "step": Column(pa.list_(pa.int64()), "evaluated steps", "steps"),
    "loss": Column(_LIST, "variational bound, mean over the steps since the last evaluation", _BITS, since_last=True),
    "loss_diffusion": Column(_LIST, "diffusion term of the bound", _BITS, since_last=True),
    "loss_prior": Column(_LIST, "prior term of the bound, KL(q(z_1|x) || N(0, I))", _BITS, since_last=True),
    "loss_reconstruction": Column(_LIST, "reconstruction term of the bound", _BITS, since_last=True),
    "gradient_norm": Column(_LIST, "norm of the gradient that `clip_of` names, mean over these steps", since_last=True),
    "gamma_0": Column(_LIST, "-log SNR at the data's end of the schedule"),
    "gamma_1": Column(_LIST, "-log SNR at the noise's end of the schedule"),
    "color": Column(_FOUR, f"measured colour, 0 red to 1 blue, mean over the images {_OF}"),
    "color_sd": Column(_FOUR, f"standard deviation of the measured colour over the images {_OF}"),
    "size": Column(_FOUR, f"measured size, 0 big to 1 small, mean over the images {_OF}"),
    "size_sd": Column(_FOUR, f"standard deviation of the measured size over the images {_OF}"),
    "found": Column(_FOUR, f"share of the images {_OF} in which a circle is found"),
    "color_right": Column(_FOUR, f"share of the images {_OF} that have a circle, of a colour nearer to their class"),
    "size_right": Column(_FOUR, f"share of the images {_OF} that have a circle, of a size nearer to their class"),
}
RECORDINGS: Mapping[str, Mapping[str, Column]] = {
    "trained": {
        "trained_color": Column(_FOUR, f"the classifier's P(blue), mean over the images {_OF}"),
        "trained_color_sd": Column(_FOUR, f"standard deviation of P(blue) over the images {_OF}"),
        "trained_size": Column(_FOUR, f"the classifier's P(small), mean over the images {_OF}"),
        "trained_size_sd": Column(_FOUR, f"standard deviation of P(small) over the images {_OF}"),
    },
    "nearest": {
        "memorized": Column(
            _LIST,
            f"share {_TRAINED} whose nearest training image is nearer than a third of the way to the second nearest; "
            "not less the share of fresh images, see null_memorized",
        ),
        "memorized_by_class": Column(_FOUR, f"this share {_OF}"),
        "nearest": Column(_LIST, f"distance {_TRAINED} to the nearest training image, the mean: {_RMS}"),
        "nearest_by_class": Column(_FOUR, f"this distance {_OF}"),
        "ratio": Column(
            _FOUR,
            f"distance to the nearest over that to the second nearest {_TRAINED}: quantiles .05, .25, .5, .75, .95",
        ),
        "both_right": Column(
            _LIST, f"share {_TRAINED} that have a circle of the right colour and size (measured judge)"
        ),
        "train_loss": Column(
            _LIST, f"diffusion term of the bound on 64 training images, with the noise of test_loss: {_AT}", _BITS
        ),
        "test_loss": Column(_LIST, f"diffusion term of the bound on 64 fresh images: {_AT}", _BITS),
    },
    "samples": {"samples": Column(pa.list_(pa.binary()), f"PNG with a row for each {_OF}; null where none was kept")},
}
SCALARS: Mapping[str, Column] = {
    "seconds": Column(pa.float64(), "wall time of all attempts", "s"),
    "steps_per_second": Column(pa.float64(), "training steps over the time spent on them", "1/s"),
    "processes": Column(pa.int64(), "processes that shared each batch"),
    "points": Column(pa.int64(), "training images of all trained classes", title="training images"),
    "generated_images": Column(pa.int64(), "images generated of trained classes at an evaluation"),
    "parameters": Column(pa.int64(), "trained parameters of network and schedule"),
    "judge_color_accuracy": Column(pa.float64(), "the classifier's share of fresh images with the right colour"),
    "judge_size_accuracy": Column(pa.float64(), "the classifier's share of fresh images with the right size"),
    "null_memorized": Column(pa.float64(), "share of 2,048 fresh images of trained classes that look memorized"),
    "null_nearest": Column(pa.float64(), f"mean distance of these images to the nearest training image: {_RMS}"),
    "engine": Column(pa.string(), "version of torch, kind of device, and precision"),
}
