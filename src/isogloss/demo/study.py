"""What `isogloss demo` does: one study and one diagnosis in the laboratory, small enough for three minutes.

The study fine-tunes the laboratory's encoder as it is, with pairs of layers drawn anew (RANDOM-INIT), and after
adjustment on a bitext; and measures how alike languages are inside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.diagnosis.inputs import LABORATORY_SIZES

NAME = "demo"
SOURCE, BITEXT, UNSEEN = "qla", "qlf", "qlj"  # trained on; adjusted with; never seen, and in letters of others
REFERENCE, PAIRS, ADJUSTED = "REF", ("1-2", "5-6", "11-12"), "adjusted"
LINES = 20  # of raw text for each step of the monolingual model: as many as adaptation reads


@dataclass(frozen=True)
class Amounts:
    """Sentences, pairs, lines and epochs. The first five are the study's, the others the diagnosis's."""

    parallel: int = 200
    train: int = 300
    test: int = 100
    epochs: int = 3
    bitext: int = 500
    labelled: int = 25  # of the unseen language
    unseen_test: int = 150
    text: int = 800
    unseen_epochs: int = 14
    bilstm_epochs: int = 14
    seeds: int = 3


def demo_study(amounts: Amounts) -> dict[str, Any]:
    """The study, as it would stand in a file.

    >>> list(demo_study(Amounts())["changes"])
    ['REF', '1-2', '5-6', '11-12', 'adjusted']
    """
    measured = {"when": ["before"], "changes": [REFERENCE, ADJUSTED]}
    bitext = f"lab:{SOURCE},{BITEXT}/{{}}/{{}}"
    adjust = {"bitext": bitext.format("train", amounts.bitext), "settings": {"learning_rate": 1e-4}}
    return {
        "name": NAME,
        "description": "The laboratory's encoder: where its languages meet, which layers carry transfer, whether "
        "languages that are more alike lose less, what adjustment does; and a language that it never saw.",
        "models": "laboratory",
        "changes": {REFERENCE: [], **{pair: [{"reinit": pair}] for pair in PAIRS}, ADJUSTED: [{"adjust": adjust}]},
        "tasks": ["pos"],
        "sources": {SOURCE: {"train": f"lab:{SOURCE}/train/{amounts.train}", "dev": f"lab:{SOURCE}/dev/50"}},
        "targets": {lang: f"lab:{lang}/test/{amounts.test}" for lang in LANGUAGES},
        "settings": {"epochs": amounts.epochs, "batch": 16, "learning_rate": 5e-4},
        "measure": {"parallel": f"lab:{','.join(LANGUAGES)}/test/{amounts.parallel}", **measured},
        "distances": {"bitext": bitext.format("test", amounts.parallel), **measured},
        "networks": "discard",
    }


def demo_diagnosis(amounts: Amounts) -> dict[str, Any]:
    """Arguments of `diagnose`: less of everything than the laboratory's usual, the rates as they are. Batches are of
    four, so that fine-tuning and the BiLSTM take a hundred steps in few epochs: with fewer neither has learnt much, and
    scoring the dev set costs the BiLSTM more than learning."""
    usual = LABORATORY_SIZES
    sizes = replace(
        usual,
        finetune={**usual.finetune, "epochs": amounts.unseen_epochs, "batch": 4},
        bilstm={"epochs": amounts.bilstm_epochs, "batch": 4},
        pretrain={**usual.pretrain, "steps": max(1, amounts.text // LINES)},
    )
    labelled = {"train": amounts.labelled, "dev": 30, "test": amounts.unseen_test}
    return {
        "lang": UNSEEN,
        **{split: f"lab:{UNSEEN}/{split}/{number}" for split, number in labelled.items()},
        "text": f"lab:{UNSEEN}/train/{amounts.text}",
        "seeds": amounts.seeds,
        "remedies": ["transliterate"],
        "sizes": sizes,
    }
