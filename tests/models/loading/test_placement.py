"""Models larger than memory, scaled down: sharded checkpoints of which a part stays on disk."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from polars.testing import assert_frame_equal
from safetensors.torch import load_file
from tiny_models import LISTED, SENTENCES
from torch import nn

import isogloss as ig
from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.loading.placement import execution_device, is_offloaded, memory_limits, parse_size
from isogloss.models.states import pooling
from isogloss.models.states.hidden_states import CPU_BATCH_TOKENS, DEVICE_BATCH_TOKENS, sentence_states, word_states

Tiny = Callable[[str], LoadedModel]


def sharded(model: LoadedModel, folder: Path) -> Path:
    """The model in as many files as a large one has."""
    model.body.save_pretrained(folder, max_shard_size="8KB")  # type: ignore[operator]
    model.tokenizer.save_pretrained(folder)
    assert len(list(folder.glob("*.safetensors"))) > 2
    return folder


def size(model: LoadedModel) -> int:
    return sum(weights.nbytes for weights in model.body.parameters())


@pytest.mark.parametrize("room", [0.9, 0.0], ids=["part on disk", "all on disk"])
@pytest.mark.parametrize("family", LISTED)
def test_shards_on_disk_give_the_same_bits(tiny: Tiny, tmp_path: Path, family: str, room: float) -> None:
    pytest.importorskip("accelerate")
    model = tiny(family)
    spread = load_model(sharded(model, tmp_path), device_map="auto", max_memory={"cpu": int(room * size(model))})
    kept = {weights.device.type for weights in spread.body.parameters()}
    assert "meta" in kept  # so tight that part must be on disk
    assert ("cpu" in kept) == (room > 0)
    layers = model.layer_names
    for states in (sentence_states, word_states):
        texts = SENTENCES if states is sentence_states else [text.split() for text in SENTENCES]
        got, want = (  # in the same batches
            states(one, texts, layers=layers, budget=CPU_BATCH_TOKENS).collect()  # type: ignore[operator]
            for one in (spread, model)
        )
        for one, other in zip(got, want, strict=True):
            np.testing.assert_array_equal(one, other)


def test_curves_of_a_model_on_disk_are_those_of_the_model_in_memory(tiny: Tiny, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    model = tiny("llama")
    spread = load_model(sharded(model, tmp_path), device_map="auto", max_memory={"cpu": size(model) // 2})
    lab = ig.Laboratory(seed=0).parallel(["qla", "qlb"], 20)
    got, want = (ig.similarity(one, lab, source="qla", bootstrap=5, name="one").frame for one in (spread, model))
    assert_frame_equal(got, want, rel_tol=1e-4, abs_tol=1e-5)  # batches of another size


def test_half_precision_from_shards_is_never_single_on_the_way(tiny: Tiny, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    model = tiny("llama")
    folder = sharded(model, tmp_path)
    whole = load_model(folder, dtype="bfloat16", device="cpu")
    assert {weights.dtype for weights in whole.body.parameters()} == {torch.bfloat16}
    spread = load_model(folder, dtype="bfloat16", device_map="auto", max_memory={"cpu": size(whole) // 2})
    assert is_offloaded(spread.body)
    seen = set()
    hooks = [
        module.register_forward_pre_hook(lambda _, inputs: seen.add(inputs[0].dtype))
        for module in spread.body.modules()
        if isinstance(module, nn.Linear)
    ]
    got = sentence_states(spread, SENTENCES).collect()
    assert hooks
    assert seen == {torch.bfloat16}
    np.testing.assert_array_equal(got, sentence_states(whole, SENTENCES).collect())


@pytest.mark.parametrize("pool", ["mean", "max", "last"])
def test_states_reduced_piece_by_piece(
    tiny: Tiny, folder: Callable, monkeypatch: pytest.MonkeyPatch, pool: str
) -> None:
    model = load_model(folder("bert"), dtype="bfloat16", device="cpu")
    want = sentence_states(model, SENTENCES, pool=pool).collect()
    monkeypatch.setattr(pooling, "CAST_CHUNK_ELEMENTS", 1)  # a sentence at a time
    np.testing.assert_array_equal(sentence_states(model, SENTENCES, pool=pool).collect(), want)


def test_batches_are_large_where_weights_come_anew_for_each(tiny: Tiny, tmp_path: Path) -> None:
    accelerate = pytest.importorskip("accelerate")
    model = tiny("llama")
    assert sentence_states(model, SENTENCES).budget == CPU_BATCH_TOKENS
    spread = load_model(sharded(model, tmp_path / "model"), device="cpu")
    accelerate.disk_offload(spread.body, str(tmp_path / "disk"), torch.device("cpu"))
    assert sentence_states(spread, SENTENCES).budget == DEVICE_BATCH_TOKENS


def test_inputs_go_where_the_network_computes() -> None:
    """The weights of this one are elsewhere, as of a model of which a GPU holds a part."""
    network = nn.Sequential(nn.Linear(2, 2, device="meta"))
    assert execution_device(network) == torch.device("cpu")

    class Hook:
        execution_device = 1

    network[0]._hf_hook = Hook()  # type: ignore[assignment]
    assert execution_device(network).index == 1
    assert execution_device(nn.Linear(2, 2)) == torch.device("cpu")


def test_pickles_on_disk_need_a_folder(tiny: Tiny, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    model = tiny("llama")
    folder = tmp_path / "pickled"
    model.body.save_pretrained(folder)  # type: ignore[operator]
    model.tokenizer.save_pretrained(folder)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    options = {"device_map": "auto", "max_memory": {"cpu": size(model) // 2}, "allow_pickle": True}
    with pytest.raises(InputError, match=r"--offload-folder\) names a folder for the weights"):
        load_model(folder, **options)  # type: ignore[arg-type]
    spread = load_model(folder, offload_folder=tmp_path / "disk", **options)  # type: ignore[arg-type]
    np.testing.assert_array_equal(
        sentence_states(spread, SENTENCES).collect(), sentence_states(model, SENTENCES).collect()
    )


def test_wrong_limits_say_what_is_expected(folder: Callable) -> None:
    for wrong in ("20 bananas", "GB", "-1GB", -1, "1e3GB", ""):
        with pytest.raises(UsageError, match="expected a size such as 20GB"):
            parse_size(wrong)
    with pytest.raises(UsageError, match="GPU 99 not found"):
        memory_limits({99: "1GB"})
    with pytest.raises(UsageError, match="expected the number of a GPU or cpu, got 'gpu'"):
        memory_limits({"gpu": "1GB"})
    with pytest.raises(UsageError, match="pass device_map='auto', too"):
        load_model(folder("bert"), device="cpu", max_memory={"cpu": "1GB"})
    with pytest.raises(UnknownName, match="unknown device_map 'autto'; did you mean 'auto'"):
        load_model(folder("bert"), device_map="autto")


def test_limits_given_are_left_as_they_are(tiny: Tiny, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    given = {"cpu": "10KB"}
    load_model(sharded(tiny("llama"), tmp_path), device_map="auto", max_memory=given)
    assert given == {"cpu": "10KB"}
