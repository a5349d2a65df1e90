"""Controls of similarity curves: the same architecture with all weights re-initialised, on the same sentences.

A control does not depend on weights. It is stored under a hash of the architecture (class, configuration, shapes of
the weights), the token ids of every sentence, the pairs, indexes, pooling and layers, the precision and the number of
the draw. Models of one architecture with one tokenizer share their controls, and so do a model before and after
fine-tuning.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from isogloss import __version__
from isogloss.analysis.curve_verdicts import ControlCurves, CurveKey, LayerMeasurement, curves_by_key
from isogloss.analysis.layer_measurements import CurveInputs, Progress, measure_layers
from isogloss.core.errors import IsoglossError, UsageError
from isogloss.core.files import atomic_write, cache_folder
from isogloss.core.hashing import digest, hasher
from isogloss.core.seeds import derive_seed
from isogloss.indexes.curve_shape import MIN_LAYERS
from isogloss.indexes.curve_verdict import MIN_CONTROL_DRAWS, NO_CONTROL
from isogloss.models.interventions.reinit import reinitialise_all
from isogloss.models.loading.loaded_model import FINAL, LoadedModel, clone
from isogloss.models.tokenization.encoding import encode_sentences
from isogloss.store.locks import acquire

DEFAULT_CONTROL_DRAWS = 5
# of a model that gets a control by default: a forward pass takes minutes on a CPU, seconds on a GPU
MAX_CONTROL_PARAMETERS, MAX_GPU_CONTROL_PARAMETERS = 150_000_000, 1_000_000_000
CONTROL_VERSION = 1  # raised when the same control would be computed differently
CONTROL_FOLDER = "controls"
LOCK_WAIT_SECONDS = 0.2
# of a configuration; they do not affect the initial weights
IGNORED_SETTINGS = ("_name_or_path", "transformers_version", "architectures", "dtype", "torch_dtype")
DrawCurves = dict[CurveKey, list[float]]


@dataclass(frozen=True)
class UntrainedControl:
    """The curves of untrained networks, or the reason why there are none."""

    curves: ControlCurves | None
    missing: str = ""


def untrained_control(
    model: LoadedModel,
    inputs: CurveInputs,
    control: bool | None,
    draws: int,
    *,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> UntrainedControl:
    """The control if it is requested, or by default (`control=None`) if the model is small enough.

    By default an architecture that cannot be re-initialised has no control; on request this is an error.
    """
    reason = "switched off" if control is False else "" if control else reason_against_control(model)
    if sum(layer != FINAL for layer in inputs.layers) < MIN_LAYERS:
        reason = "too few layers for a verdict"
    if not reason:
        try:
            return UntrainedControl(control_curves(model, inputs, draws, cache=cache, progress=progress))
        except IsoglossError as error:
            if control:
                raise
            reason = str(error)
    return UntrainedControl(None, f"{NO_CONTROL} ({reason})")


def reason_against_control(model: LoadedModel) -> str:
    """Why a model gets no control by default; empty if it does."""
    parameters = sum(weights.numel() for weights in model.body.parameters())
    limit = MAX_GPU_CONTROL_PARAMETERS if model.device.type == "cuda" else MAX_CONTROL_PARAMETERS
    if parameters > limit:
        return f"{parameters / 1e6:,.0f} million parameters; on request only above {limit / 1e6:,.0f} million"
    if any(weights.is_meta for weights in model.body.parameters()):
        return "the weights are offloaded"
    return ""


def control_curves(
    model: LoadedModel,
    inputs: CurveInputs,
    draws: int = DEFAULT_CONTROL_DRAWS,
    *,
    cache: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
) -> ControlCurves:
    """The curves of `draws` untrained networks of the model's architecture, by pair and index.

    `cache`: the folder of the stored controls; `isogloss/controls` in the user's cache by default.
    """
    if draws < MIN_CONTROL_DRAWS:
        raise UsageError(f"expected at least {MIN_CONTROL_DRAWS} control draws, got {draws}")
    folder = Path(cache) if cache else cache_folder() / CONTROL_FOLDER
    network: LoadedModel | None = None

    def measure(draw: int) -> DrawCurves:
        nonlocal network
        network = network or clone(model)
        reinitialise_all(network, seed=derive_seed(draw, "control"))
        return _measure(network, inputs, f"untrained network {draw + 1} of {draws}, ", progress)

    curves: dict[CurveKey, list[list[float]]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the model itself has given the warnings about these sentences
        identity = control_identity(model, inputs)
        for draw in range(draws):
            for key, curve in _stored(folder / f"{identity}-{draw}.json", partial(measure, draw)).items():
                curves.setdefault(key, []).append(curve)
    return curves


def control_identity(model: LoadedModel, inputs: CurveInputs) -> str:
    """The hash of everything that decides a control besides the number of the draw."""
    settings = {name: value for name, value in model.body.config.to_dict().items() if name not in IGNORED_SETTINGS}
    shapes = [(name, list(weights.shape)) for name, weights in model.body.named_parameters()]
    architecture = (type(model.body).__name__, settings, shapes, str(model.body.dtype))
    measurement = (inputs.pairs, [index.name for index in inputs.indexes], inputs.pool, inputs.specials, inputs.layers)
    tokens = {lang: _token_hash(model, inputs.parallel.sentences(lang)) for lang in inputs.languages}
    return digest(CONTROL_VERSION, __version__, architecture, measurement, tokens)


def _token_hash(model: LoadedModel, sentences: Sequence[str]) -> str:
    content_hash = hasher(12)
    for text in encode_sentences(model, sentences):
        for numbers in (text.ids, text.word):
            content_hash.update(len(numbers).to_bytes(4, "little") + numbers.tobytes())
    return content_hash.hexdigest()


def _measure(network: LoadedModel, inputs: CurveInputs, prefix: str, progress: Progress | None) -> DrawCurves:
    report = progress or (lambda *_: None)

    def prefixed(description: str, done: int, total: int) -> None:
        report(prefix + description, done, total)

    rows = [
        LayerMeasurement(*layer.place, measurement)
        for layer in measure_layers(network, inputs, progress=prefixed)
        for measurement in layer.measurements
    ]
    return {key: [row.measured.value for row in points] for key, points in curves_by_key(rows).items()}


def _stored(path: Path, compute: Callable[[], DrawCurves]) -> DrawCurves:
    """A control from its file, or computed; of several processes that need it, one computes and the others wait."""
    while (curves := _read(path)) is None:
        try:
            lock = acquire(path.with_suffix(".lock"))
        except OSError:  # a folder that cannot be written to costs time later, not the result
            return compute()
        if lock is None:
            time.sleep(LOCK_WAIT_SECONDS)
            continue
        try:
            curves = _read(path) or compute()
            with suppress(OSError), atomic_write(path) as file:
                json.dump([(*key, curve) for key, curve in curves.items()], file, ensure_ascii=False)
            return curves
        finally:
            lock.release()
    return curves


def _read(path: Path) -> DrawCurves | None:
    """A stored control; None if there is none, or if its file is damaged."""
    with suppress(OSError, ValueError, TypeError):
        return {(source, target, index): curve for source, target, index, curve in json.loads(path.read_text("utf-8"))}
    return None
