"""The study and the diagnosis of `isogloss demo`, in the laboratory.

The study fine-tunes the laboratory's encoder directly, with pairs of layers re-initialised (RANDOM-INIT) and after
adjustment on a bitext, and measures similarity between languages inside the model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from isogloss.corpora.lab.languages import LANGUAGES
from isogloss.diagnosis.inputs import LABORATORY_SIZES

STUDY_NAME = "demo"
SOURCE, BITEXT, UNSEEN = "qla", "qlf", "qlj"  # BITEXT: with the source; UNSEEN: another script than its relatives
REFERENCE, PAIRS, ADJUSTED = "REF", ("1-2", "5-6", "11-12"), "adjusted"
TEXT_LINES_PER_STEP = 20  # of the monolingual model: as in adaptation


@dataclass(frozen=True)
class DemoSizes:
    """Numbers of sentences, pairs, lines and epochs; the first five are of the study, the others of the diagnosis."""

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


def demo_study(sizes: DemoSizes) -> dict[str, Any]:
    """The study as a study document.

    >>> list(demo_study(DemoSizes())["changes"])
    ['REF', '1-2', '5-6', '11-12', 'adjusted']
    """
    measurement = {"when": ["before"], "changes": [REFERENCE, ADJUSTED]}
    bitext = f"lab:{SOURCE},{BITEXT}/{{}}/{{}}"
    adjust = {"bitext": bitext.format("train", sizes.bitext), "settings": {"learning_rate": 1e-4}}
    return {
        "name": STUDY_NAME,
        "description": "The laboratory's encoder: similarity by layer, layers that matter for transfer, correlation of "
        "similarity and gap, adjustment; and a language not seen in pretraining.",
        "models": "laboratory",
        "changes": {REFERENCE: [], **{pair: [{"reinit": pair}] for pair in PAIRS}, ADJUSTED: [{"adjust": adjust}]},
        "tasks": ["pos"],
        "sources": {SOURCE: {"train": f"lab:{SOURCE}/train/{sizes.train}", "dev": f"lab:{SOURCE}/dev/50"}},
        "targets": {lang: f"lab:{lang}/test/{sizes.test}" for lang in LANGUAGES},
        "settings": {"epochs": sizes.epochs, "batch": 16, "learning_rate": 5e-4},
        "measure": {"parallel": f"lab:{','.join(LANGUAGES)}/test/{sizes.parallel}", **measurement},
        "distances": {"bitext": bitext.format("test", sizes.parallel), **measurement},
        "networks": "discard",
    }


def demo_diagnosis(demo_sizes: DemoSizes) -> dict[str, Any]:
    """Arguments of `diagnose`: smaller sizes than the laboratory's defaults, with the same learning rates.

    Settings are not searched, to save time. Batches of four give fine-tuning and the BiLSTM about a hundred steps in
    few epochs, which both need.
    """
    laboratory = LABORATORY_SIZES
    sizes = replace(
        laboratory,
        finetune={**laboratory.start, "epochs": demo_sizes.unseen_epochs, "batch": 4},
        bilstm={"epochs": demo_sizes.bilstm_epochs, "batch": 4},
        pretrain={**laboratory.pretrain, "steps": max(1, demo_sizes.text // TEXT_LINES_PER_STEP)},
    )
    labelled = {"train": demo_sizes.labelled, "dev": 30, "test": demo_sizes.unseen_test}
    return {
        "lang": UNSEEN,
        **{split: f"lab:{UNSEEN}/{split}/{number}" for split, number in labelled.items()},
        "text": f"lab:{UNSEEN}/train/{demo_sizes.text}",
        "seeds": demo_sizes.seeds,
        "remedies": ["transliterate"],
        "sizes": sizes,
        "tune": False,
    }
