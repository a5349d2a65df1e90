"""The model in the package: small enough, loadable by the model library alone, and alike the papers' in its story."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
import transformers

import isogloss as ig
from isogloss.core.bundled import SHIPPED
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.results.rows.results import Results

FOLDER = SHIPPED["laboratory"]


@pytest.fixture(scope="module")
def model() -> LoadedModel:
    return load_model("laboratory", device="cpu")


def test_it_is_small_and_has_a_card() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 12_000_000
    assert "isogloss pretrain" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_model_library_loads_it(model: LoadedModel) -> None:
    stock = transformers.AutoModelForMaskedLM.from_pretrained(FOLDER, dtype="float32")
    assert (model.name, model.layers) == ("laboratory", 12)
    assert stock.base_model.state_dict().keys() == model.body.state_dict().keys()


def test_languages_meet_in_the_middle(model: LoadedModel) -> None:
    """Every index rises to a layer within and falls at the end, for relatives and strangers in several scripts."""
    parallel = ig.Laboratory(0).parallel(["qla", "qlb", "qlc", "qld", "qlf"], 120)
    indexes = ["matching", "cka", "anc"]
    curves = ig.similarity(model, parallel, source="qla", indexes=indexes, bootstrap=0)
    for index, target in product(indexes, ("qlb", "qlc", "qld", "qlf")):
        rows = curves.frame.filter(index=index, target=target).sort("layer")["value"].to_list()
        best = int(np.argmax(rows))
        assert 3 <= best <= 10, (index, rows)
        assert rows[best] > rows[0] and rows[best] > rows[12], (index, rows)
        if target != "qlb":  # the sister is matched nearly without fault to the end
            least = 1.2 if index == "matching" else 1.05
            assert rows[best] > least * rows[0] and rows[best] > least * rows[12], (index, rows)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_low_layers_carry_transfer(model: LoadedModel) -> None:
    """RANDOM-INIT of layers 1-2 costs other languages several times what it costs the source; 11-12 next to nothing."""
    lab = ig.Laboratory(0)
    tests = {lang: lab.treebank(lang, "test", 100) for lang in ("qla", "qlb", "qlc", "qlf", "qlg")}

    def scores(before: Sequence[object]) -> dict[str, float]:
        result: Results = ig.transfer(
            model,
            task="pos",
            train=lab.treebank("qla", "train", 400),
            dev=lab.treebank("qla", "dev", 100),
            test=tests,
            before=before,
            epochs=4,
            learning_rate=5e-4,
            seeds=[0],
        )
        return dict(result.tests.select("target", "value").iter_rows())

    whole, low, high = (scores(before) for before in ([], [ig.reinit("1-2")], [ig.reinit("11-12")]))
    cost = {lang: 100 * (whole[lang] - low[lang]) for lang in tests}
    others = float(np.mean([cost[lang] for lang in tests if lang != "qla"]))
    assert whole["qla"] > 0.94
    assert others > 2 * cost["qla"] and others > 2, cost
    assert np.mean([whole[lang] - high[lang] for lang in tests]) < 0.01, "drawing the last layers anew is no loss"
