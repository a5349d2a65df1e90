"""A model without weights has the properties of the loaded model, for every family."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_models import LISTED, UNLISTED, build, build_scheme

from isogloss.core.errors import InputError
from isogloss.models.interventions.reinit import reinit
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.skeleton import load_skeleton


def properties(model: LoadedModel) -> tuple[object, ...]:
    names = [(name, tuple(weight.shape)) for name, weight in model.body.named_parameters()]
    return model.layer_names, model.hidden_size, model.max_length, model.prefix, model.suffix, str(model.family), names


def check(folder: Path) -> None:
    skeleton, model = load_skeleton(folder), load_model(folder, device="cpu")
    assert all(weight.is_meta for weight in skeleton.body.parameters())
    own, expected = properties(skeleton), properties(model)
    assert own[:-1] == expected[:-1]
    assert [name for name in expected[-1] if name not in own[-1]] == []  # type: ignore[attr-defined, operator]
    reinit(f"1-{model.layers}").check(skeleton)
    with pytest.raises(Exception, match=f"are 1-{model.layers}, got {model.layers + 1}"):
        reinit(str(model.layers + 1)).check(skeleton)


@pytest.mark.parametrize("family", [*LISTED, *UNLISTED])
def test_every_family(family: str, tmp_path: Path) -> None:
    check(build(family, tmp_path / family))


def test_the_schemes_of_isogloss(tmp_path: Path) -> None:
    check(build_scheme("normformer", False, tmp_path / "model"))


def test_what_is_no_model_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a model folder with config\.json"):
        load_skeleton(tmp_path)
