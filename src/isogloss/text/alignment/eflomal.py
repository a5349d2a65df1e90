"""Word alignment with eflomal: a Bayesian model with word order and fertility, learnt from the text that it aligns.

eflomal uses the random numbers of the operating system and has no seed, so two runs differ slightly: it is the only
aligner here that is not reproducible. It ignores case.

Reference: Östling & Tiedemann (2016), Efficient word alignment with Markov chain Monte Carlo.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from isogloss.core.errors import InputError, UsageError
from isogloss.core.files import Repairs, read_lines
from isogloss.core.registry import import_extra
from isogloss.corpora.formats.pharaoh import pharaoh
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair

MAX_SENTENCE_WORDS = 1023  # eflomal silently gives longer sentences no links


def eflomal_links(
    pairs: Sequence[AlignedPair], priors: str | os.PathLike[str] | None = None
) -> Iterator[tuple[Alignment, Alignment]]:
    """Forward and reverse links of every pair; `priors`: a file of `eflomal-makepriors`, from a larger bitext."""
    eflomal = import_extra("eflomal", "align")
    for number, pair in enumerate(pairs, 1):
        if max(len(pair.source), len(pair.target)) > MAX_SENTENCE_WORDS:
            limit = f"at most {MAX_SENTENCE_WORDS} words per sentence"
            raise UsageError(f"pair {number}: eflomal takes {limit}; remove longer sentences")
    with tempfile.TemporaryDirectory(prefix="isogloss-") as folder:
        forward, reverse = Path(folder, "forward"), Path(folder, "reverse")
        try:
            eflomal.Aligner().align(
                [_line(pair.source) for pair in pairs],
                [_line(pair.target) for pair in pairs],
                links_filename_fwd=str(forward),
                links_filename_rev=str(reverse),
                priors_input=list(read_lines(priors)) if priors else None,
            )
        except (ValueError, IndexError, TypeError) as error:
            if not priors:
                raise
            expected = "priors written by eflomal-makepriors"
            raise InputError(priors, expected, f"{type(error).__name__}: {error}") from None
        links = [list(pharaoh().stream(path, Repairs())) for path in (forward, reverse)]
    return zip(*links, strict=True)


def _line(words: Sequence[str]) -> str:
    """A sentence in the input format of eflomal: spaces inside words, as in Vietnamese, become underscores.

    >>> _line(["hai mươi", "ba"])
    'hai_mươi ba'
    """
    return " ".join("_".join(word.split()) or "_" for word in words)
