"""Silencing the transformers library, and its errors as `InputError`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import torch
from transformers.utils import logging

from isogloss.core.errors import InputError, IsoglossError, MissingExtra


@contextlib.contextmanager
def quiet_library() -> Iterator[None]:
    """A context without the progress bars and warnings of transformers; relevant problems are raised as errors."""
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()


@contextlib.contextmanager
def readable_errors(name: str) -> Iterator[None]:
    """A context that turns exceptions of transformers into an `InputError` with advice."""
    try:
        yield
    except ImportError as error:
        if "accelerate" in str(error).lower():
            raise MissingExtra("accelerate", "large") from None
        raise InputError(name, "a model that the installed packages can load", _first_line(error)) from None
    except (IsoglossError, torch.OutOfMemoryError):
        raise
    except Exception as error:  # damaged files raise any exception, even a bare Exception
        advice = ""
        if "trust_remote_code" in str(error):
            advice = "trust_remote_code=True (--trust-remote-code) runs the code of the repository, if you trust it"
        elif "offload_folder" in str(error):
            advice = "offload_folder=… (--offload-folder) names a folder for the weights that are offloaded to disk"
        elif not Path(name).is_dir():
            advice = "check the name, or download the model and pass its folder"
        raise InputError(name, "a loadable model", _first_line(error), advice=advice) from None


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"
