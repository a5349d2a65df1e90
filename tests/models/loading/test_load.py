"""Loading: what is read, what is refused, and that the refusal says what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_models import SENTENCES, SIZES, build_masked, tokenizer_of
from transformers import Gemma3Config, Gemma3Model, MT5EncoderModel

import isogloss as ig
from isogloss.core.errors import InputError, UnknownName, UsageError
from isogloss.models.loading.load import load_model
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.states.hidden_states import CPU_BATCH_TOKENS, sentence_states

Folder = Callable[[str], Path]


@pytest.fixture
def copy(folder: Folder, tmp_path: Path) -> Callable[[str], Path]:
    """A family's folder that a test may damage."""
    return lambda family: shutil.copytree(folder(family), tmp_path / family)


def edit_config(folder: Path, **values: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_the_public_name(folder: Folder) -> None:
    model = ig.load_model(folder("bert"), device="cpu")
    assert (model.layers, model.hidden_size, model.max_length) == (3, 16, 160)
    assert model.tokenizer.tokenize("cat") == ["cat"]
    assert model.layer_names == (0, 1, 2, 3)
    assert not model.body.training


@pytest.mark.parametrize(
    ("family", "max_length", "prefix", "suffix"),
    [
        ("bert", 160, ["[CLS]"], ["[SEP]"]),
        ("xlm-roberta", 158, ["<s>"], ["</s>"]),  # positions start after the padding id
        ("xlm-roberta-xl", 158, ["<s>"], ["</s>"]),
        ("xglm", 160, ["</s>"], []),
        ("mt5", 1024, [], ["</s>"]),
        ("modernbert", 160, ["[CLS]"], ["[SEP]"]),
        ("llama", 160, ["<s>"], []),
        ("qwen2", 160, [], []),
        ("gemma3_text", 160, ["<bos>"], []),
    ],
)
def test_lengths_and_special_tokens(
    tiny: Callable[[str], LoadedModel], family: str, max_length: int, prefix: list[str], suffix: list[str]
) -> None:
    model = tiny(family)
    assert model.max_length == max_length
    assert model.tokenizer.convert_ids_to_tokens(model.prefix) == prefix
    assert model.tokenizer.convert_ids_to_tokens(model.suffix) == suffix


@pytest.mark.parametrize("family", ["bert", "xlm-roberta", "xlm-roberta-xl", "xglm", "llama"])
def test_the_longest_input_fits(tiny: Callable[[str], LoadedModel], family: str) -> None:
    model = tiny(family)
    with pytest.warns(UserWarning, match="1 of 1 sentences truncated"):
        states = sentence_states(model, ["cat " * 400])
    assert len(states.encoded[0]) == model.max_length
    states.collect()


def test_bos_is_not_added_twice(copy: Callable[[str], Path]) -> None:
    """A Gemma tokenizer that does add BOS, as some conversions do."""
    from tokenizers import processors

    folder = copy("gemma3_text")
    tokenizer = tokenizer_of("gemma3_text")
    backend = type(tokenizer.backend_tokenizer).from_str(tokenizer.backend_tokenizer.to_str())
    backend.post_processor = processors.TemplateProcessing(single="<bos> $A", special_tokens=[("<bos>", 0)])
    backend.save(str(folder / "tokenizer.json"))
    model = load_model(folder, device="cpu")
    assert model.tokenizer("cat")["input_ids"][0] == 0
    assert model.prefix == (0,)


def test_a_family_trained_with_bos_needs_one(copy: Callable[[str], Path]) -> None:
    folder = copy("gemma3_text")
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "bos_token": None}))
    with pytest.raises(InputError, match="a tokenizer with a BOS token"):
        load_model(folder, device="cpu")


def test_an_encoder_decoder_is_loaded_as_its_encoder(folder: Folder, tmp_path: Path) -> None:
    whole = load_model(folder("mt5"), device="cpu")
    assert isinstance(whole.body, MT5EncoderModel)
    whole.body.save_pretrained(tmp_path)
    whole.tokenizer.save_pretrained(tmp_path)
    alone = load_model(tmp_path, device="cpu")
    want = sentence_states(whole, SENTENCES).collect()
    np.testing.assert_array_equal(sentence_states(alone, SENTENCES).collect(), want)
    assert not [
        name for name, _ in load_model(folder("bart"), device="cpu").network.named_modules() if "decoder" in name
    ]


def test_a_model_of_text_and_images_is_loaded_as_its_text_part(tmp_path: Path) -> None:
    tokenizer = tokenizer_of("gemma3_text")
    text = SIZES | {"head_dim": 8, "vocab_size": 260, "pad_token_id": 1}
    vision = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1}
    config = Gemma3Config(
        text_config=text, vision_config=vision | {"image_size": 8, "patch_size": 4}, mm_tokens_per_image=4
    )
    Gemma3Model(config).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    model = load_model(tmp_path, device="cpu")
    assert (model.layers, model.hidden_size, model.prefix) == (3, 16, (0,))
    assert model.layer_names[-1] == "final"
    assert sentence_states(model, SENTENCES).collect().shape == (4, 9, 16)


def test_heads_for_training(tmp_path: Path, folder: Folder) -> None:
    build_masked(tmp_path)
    bare, masked = load_model(tmp_path, device="cpu"), load_model(tmp_path, head="mlm", device="cpu")
    ids = torch.tensor([bare.tokenizer("cat")["input_ids"]])
    assert masked.network(input_ids=ids).logits.shape == (1, 3, len(tokenizer_of("bert")))
    np.testing.assert_array_equal(
        sentence_states(masked, SENTENCES).collect(), sentence_states(bare, SENTENCES).collect()
    )
    with pytest.raises(InputError, match=r"all weights .* none for cls\.predictions"):
        load_model(folder("bert"), head="mlm", device="cpu")
    with pytest.raises(UnknownName, match="unknown head 'masked'"):
        load_model(tmp_path, head="masked", device="cpu")  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_dtype_is_the_one_asked_for(folder: Folder, dtype: str) -> None:
    model = load_model(folder("bert"), dtype=dtype, device="cpu")
    assert {parameter.dtype for parameter in model.body.parameters()} == {getattr(torch, dtype)}
    with pytest.raises(UnknownName, match="unknown dtype 'float'"):
        load_model(folder("bert"), dtype="float")


def test_pickles_are_refused_unless_allowed(copy: Callable[[str], Path], tiny: Callable[[str], LoadedModel]) -> None:
    folder = copy("bert")
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"weights as \*\.safetensors, got pickles.*allow_pickle=True"):
        load_model(folder, device="cpu")
    model = load_model(folder, device="cpu", allow_pickle=True)
    want = sentence_states(tiny("bert"), SENTENCES).collect()
    np.testing.assert_array_equal(sentence_states(model, SENTENCES).collect(), want)


def test_repository_code_does_not_run_unless_asked(
    copy: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder, trace = copy("bert"), tmp_path / "it-ran"
    (folder / "own.py").write_text(
        f"open({str(trace)!r}, 'w').close()\n"
        "from transformers import BertConfig, BertModel\n"
        "class OwnConfig(BertConfig):\n    model_type = 'own'\n"
        "class OwnModel(BertModel):\n    config_class = OwnConfig\n"
    )
    edit_config(folder, model_type="own", auto_map={"AutoConfig": "own.OwnConfig", "AutoModel": "own.OwnModel"})
    with pytest.raises(InputError, match=r"--trust-remote-code"):
        load_model(folder, device="cpu")
    assert not trace.exists()
    assert load_model(folder, device="cpu", trust_remote_code=True).layers == 3
    assert trace.exists()


def test_what_is_missing_is_named(copy: Callable[[str], Path], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        load_model(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"no-such-model-anywhere: expected a loadable model, got .*check the name"):
        load_model("no-such-model-anywhere")
    folder = copy("bert")
    (folder / "config.json").rename(folder / "config.txt")
    with pytest.raises(InputError, match=r"a model folder with config\.json, got none"):
        load_model(folder)
    (folder / "config.txt").rename(folder / "config.json")
    (folder / "model.safetensors").rename(folder / "weights")
    with pytest.raises(InputError, match=r"weights \(\*\.safetensors\), got none"):
        load_model(folder)
    (folder / "weights").rename(folder / "model.safetensors")
    for file in folder.glob("tokenizer*"):
        file.unlink()
    with pytest.raises(InputError, match="a tokenizer beside the model"):
        load_model(folder)


def test_a_tokenizer_without_vocabulary_is_found_out(copy: Callable[[str], Path]) -> None:
    folder = copy("bert")
    (folder / "tokenizer.json").unlink()
    (folder / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    with pytest.raises(InputError, match=r"tokenizer"):
        load_model(folder, device="cpu")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"model_type": "no-such-type"}', '{"a": 1}', "\x00"])
def test_a_bad_configuration_is_one_line(copy: Callable[[str], Path], content: str) -> None:
    folder = copy("bert")
    (folder / "config.json").write_text(content)
    with pytest.raises(InputError) as caught:
        load_model(folder, device="cpu")
    assert "\n" not in str(caught.value)


def test_weights_that_do_not_fit_are_refused(copy: Callable[[str], Path]) -> None:
    folder = copy("bert")
    weights = load_file(folder / "model.safetensors")
    fewer = {name: value for name, value in weights.items() if "layer.1.attention" not in name}
    save_file(fewer, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(InputError, match=r"none for encoder\.layer\.1\.attention\S+, .* and \d+ more"):
        load_model(folder, device="cpu")
    (folder / "model.safetensors").write_bytes(b"\x10" * 40)
    with pytest.raises(InputError, match="a loadable model"):
        load_model(folder, device="cpu")
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    edit_config(folder, intermediate_size=48)
    with pytest.raises(InputError, match="a loadable model"):
        load_model(folder, device="cpu")


def test_device_and_device_map_exclude_each_other(folder: Folder) -> None:
    with pytest.raises(UsageError, match="pass one of them"):
        load_model(folder("bert"), device="cpu", device_map="auto")


def test_a_device_that_is_not_here_is_one_line(folder: Folder) -> None:
    with pytest.raises(UsageError, match="unknown device 'gpu7'"):
        load_model(folder("bert"), device="gpu7")
    with pytest.raises(UsageError, match="device 'cuda:99' not found"):
        load_model(folder("bert"), device="cuda:99")


@pytest.mark.parametrize("family", ["bert", "mt5"])
def test_weights_kept_on_disk_give_the_same_states(folder: Folder, tmp_path: Path, family: str) -> None:
    accelerate = pytest.importorskip("accelerate")
    model = load_model(folder(family), device="cpu")
    want = sentence_states(model, SENTENCES, budget=CPU_BATCH_TOKENS).collect()
    accelerate.disk_offload(model.body, str(tmp_path), torch.device("cpu"))
    assert {parameter.device.type for parameter in model.body.parameters()} == {"meta"}
    np.testing.assert_array_equal(sentence_states(model, SENTENCES, budget=CPU_BATCH_TOKENS).collect(), want)


@pytest.mark.parametrize("family", ["bert", "gemma3_text"])
def test_a_model_in_shards_spread_by_device_map(
    tiny: Callable[[str], LoadedModel], family: str, tmp_path: Path
) -> None:
    pytest.importorskip("accelerate")
    model = tiny(family)
    model.body.save_pretrained(tmp_path, max_shard_size="20KB")  # type: ignore[operator]
    model.tokenizer.save_pretrained(tmp_path)
    assert len(list(tmp_path.glob("*.safetensors"))) > 1
    spread = load_model(tmp_path, device_map="auto")
    np.testing.assert_allclose(
        sentence_states(spread, SENTENCES).collect(), sentence_states(model, SENTENCES).collect(), rtol=1e-4, atol=2e-5
    )
