"""Real model folders of a few kilobytes, built on the spot: `build("xlm-roberta", folder)`.

Every family has its own kind of tokenizer with its own special tokens, as the published models do: Gemma's
does not add BOS by itself, XGLM's starts with </s>, Qwen's adds nothing. Windows and lengths are so small
that ordinary sentences reach them.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoConfig, AutoModel, AutoModelForMaskedLM, PreTrainedModel, PreTrainedTokenizerFast

from isogloss.models.normformer.config import IsoglossConfig
from isogloss.models.normformer.create import new_model
from isogloss.models.tokenization.training import KINDS

SENTENCES = [
    "The cat sat on the mat.",
    "Le chat dort.",
    "Мы живём в большом городе у моря, и каждое утро ходим на рынок за хлебом.",
    "我们 住在 海边。",
    "Yes",
    "القطة نائمة على السجادة منذ الصباح",
    "She told him that the old house by the river, which nobody had lived in for years, was sold again last week.",
    "Kedi uyuyor, köpek havlıyor.",
    "x",
]

SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 160,
    "initializer_range": 0.3,
}
CONFIGS: dict[str, dict[str, Any]] = {
    "bert": SIZES,
    "xlm-roberta": SIZES,
    "xlm-roberta-xl": SIZES,
    "xglm": {"d_model": 16, "num_layers": 3, "attention_heads": 2, "ffn_dim": 32, "init_std": 0.3}
    | {"max_position_embeddings": 160},
    "mt5": {"d_model": 16, "d_kv": 8, "num_layers": 3, "num_decoder_layers": 2, "num_heads": 2, "d_ff": 32},
    "modernbert": SIZES
    | {"local_attention": 8, "global_attn_every_n_layers": 2}
    | {"bos_token_id": None, "eos_token_id": None},
    "llama": SIZES,
    "qwen2": SIZES,
    "gemma3_text": SIZES
    | {"head_dim": 8, "sliding_window": 8, "layer_types": ["sliding_attention", "full_attention"] * 2}
    | {"num_hidden_layers": 4},
    "isogloss": SIZES,
    # not in the table of families:
    "gpt_neox": SIZES,
    "distilbert": {"dim": 16, "n_layers": 3, "n_heads": 2, "hidden_dim": 32, "max_position_embeddings": 160}
    | {"initializer_range": 0.3},
    "bart": {"d_model": 16, "encoder_layers": 3, "decoder_layers": 2, "encoder_attention_heads": 2, "init_std": 0.3}
    | {"decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32, "max_position_embeddings": 160},
}
LISTED = [name for name in CONFIGS if name not in {"gpt_neox", "distilbert", "bart"}]
UNLISTED = ["gpt_neox", "distilbert", "bart"]

# what published tokenizers of the family put around a sentence; Gemma's BOS is the library's to add
ADDED = {
    "bert": "[CLS] $A [SEP]",
    "distilbert": "[CLS] $A [SEP]",
    "modernbert": "[CLS] $A [SEP]",
    "xlm-roberta": "<s> $A </s>",
    "xlm-roberta-xl": "<s> $A </s>",
    "bart": "<s> $A </s>",
    "isogloss": "<s> $A </s>",
    "xglm": "</s> $A",
    "mt5": "$A </s>",
    "llama": "<s> $A",
}
MARKS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
GEMMA_MARKS = ["<bos>", "<pad>", "<eos>", "<unk>"]
END_MARK = ["<|endoftext|>"]
BERT_MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def build(family: str, folder: Path) -> Path:
    """A folder with configuration, safetensors and tokenizer of a tiny model with fixed random weights."""
    tokenizer = tokenizer_of(family)
    ids = {
        f"{role}_token_id": getattr(tokenizer, f"{role}_token_id")
        for role in ("bos", "eos", "pad", "cls", "sep")
        if getattr(tokenizer, f"{role}_token_id") is not None
    }
    config = AutoConfig.for_model(family, **CONFIGS[family], vocab_size=len(tokenizer) + 3, **ids)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        model = AutoModel.from_config(config)
        for name, parameter in model.named_parameters():
            if "norm" in name.lower():  # fresh norms are the identity, which would hide a missing one
                torch.nn.init.normal_(parameter, 1.0, 0.2)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def build_masked(folder: Path) -> Path:
    """A tiny BERT with its masked-language-model head."""
    tokenizer = tokenizer_of("bert")
    config = AutoConfig.for_model("bert", **CONFIGS["bert"], vocab_size=len(tokenizer))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        AutoModelForMaskedLM.from_config(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def new_scheme(
    norm: str,
    *,
    vocab_size: int,
    causal: bool = False,
    layers: int = 12,
    width: int = 768,
    heads: int | None = None,
    max_length: int = 512,
    dropout: float = 0.1,
    seed: int = 0,
    **options: Any,
) -> PreTrainedModel:
    """A network under a scheme of normalisation; `options` are those of `IsoglossConfig`."""
    config = IsoglossConfig(
        norm=norm,
        causal=causal,
        vocab_size=vocab_size,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads or max(1, width // 64),
        intermediate_size=4 * width,
        max_position_embeddings=max_length,
        hidden_dropout_prob=dropout,
        attention_probs_dropout_prob=dropout,
        **options,
    )
    return new_model(config, seed=seed)


def build_scheme(norm: str, causal: bool, folder: Path) -> Path:
    """A tiny language model under a scheme of normalisation whose norms and scales are not the identity."""
    tokenizer = tokenizer_of("bert")
    network = new_scheme(
        norm, causal=causal, vocab_size=len(tokenizer), layers=3, width=16, heads=2, initializer_range=0.3
    )
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(12)
        for parameter in network.parameters():
            if parameter.ndim == 1:
                parameter.add_(torch.randn_like(parameter), alpha=0.2)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@cache
def tokenizer_of(family: str) -> PreTrainedTokenizerFast:
    """A tokenizer of the family's kind, trained on `SENTENCES`."""
    tokenizer, marks = _trained(family)
    if family in ADDED:
        pairs = [(mark, tokenizer.token_to_id(mark)) for mark in marks if mark in ADDED[family].split()]
        tokenizer.post_processor = processors.TemplateProcessing(single=ADDED[family], special_tokens=pairs)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_roles(marks))


def _trained(family: str) -> tuple[Tokenizer, list[str]]:
    if family in {"bert", "distilbert"}:
        return _wordpiece(BERT_MARKS), BERT_MARKS
    if family in {"modernbert", "qwen2", "gpt_neox"}:
        marks = BERT_MARKS if family == "modernbert" else END_MARK
        return _byte_level(marks), marks
    if family in {"llama", "gemma3_text"}:
        marks = MARKS if family == "llama" else GEMMA_MARKS
        return _spaces_as_marks(marks, prepend=family == "llama"), marks
    return _unigram(MARKS), MARKS


def _roles(marks: list[str]) -> dict[str, str]:
    if marks is BERT_MARKS:
        return dict(zip(["pad_token", "unk_token", "cls_token", "sep_token", "mask_token"], marks, strict=True))
    if marks is END_MARK:
        return {"eos_token": marks[0]}
    return dict(zip(["bos_token", "pad_token", "eos_token", "unk_token"], marks, strict=False))


def _train(tokenizer: Tokenizer, trainer: type, marks: list[str], size: int, **options: Any) -> Tokenizer:
    tokenizer.train_from_iterator(
        SENTENCES * 3, trainer(vocab_size=size, special_tokens=marks, show_progress=False, **options)
    )
    return tokenizer


def _wordpiece(marks: list[str]) -> Tokenizer:
    tokenizer = KINDS["wordpiece"](SENTENCES * 3, 220, _named(marks))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=False)
    return tokenizer


def _byte_level(marks: list[str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _train(tokenizer, trainers.BpeTrainer, marks, 320, initial_alphabet=alphabet)


def _spaces_as_marks(marks: list[str], prepend: bool) -> Tokenizer:
    """BPE over the whole sentence, spaces written as ▁; Llama's starts with one, Gemma's does not."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    start = [normalizers.Prepend("▁")] if prepend else []
    tokenizer.normalizer = normalizers.Sequence([*start, normalizers.Replace(" ", "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer = _train(tokenizer, trainers.BpeTrainer, marks, 220)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([])
    return tokenizer


def _unigram(marks: list[str]) -> Tokenizer:
    tokenizer = KINDS["unigram"](SENTENCES * 3, 300, _named(marks))
    tokenizer.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
    return tokenizer


def _named(marks: list[str]) -> dict[str, str]:
    """Special tokens as the library's trainers take them; theirs give the same vocabulary in every process."""
    return {mark.strip("[]<>/").lower() + ("_end" if "/" in mark else ""): mark for mark in marks}
