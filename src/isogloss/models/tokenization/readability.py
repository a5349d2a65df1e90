"""Whether a model's tokenizer can represent a text: unknown tokens, byte pieces, characters and bytes per token.

Byte pieces are tokens that are a part of a character: the byte tokens of SentencePiece (`<0xE0>`), and tokens of
byte-level BPE that are not valid UTF-8. In a tokenizer of single bytes they are the units it was made for, and do not
make a text unreadable.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

from tokenizers.decoders import ByteLevel
from transformers import PreTrainedTokenizerBase

from isogloss.corpora.corpus import AnyCorpus
from isogloss.models.loading.loaded_model import LoadedModel
from isogloss.models.tokenization.encoding import tokenize
from isogloss.results.rows.readability import ADVICE, MAX_BYTE_PIECE_SHARE, MAX_UNKNOWN_SHARE, Readability

MAX_TEXTS = 1000  # of a corpus, at equal distances
MAX_TEXT_CHARACTERS = 1000  # of each text
BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
_measured: WeakKeyDictionary[PreTrainedTokenizerBase, dict[tuple[str, ...], Readability | None]] = WeakKeyDictionary()


def readability(model: LoadedModel, texts: Sequence[str]) -> Readability | None:
    """How the tokenizer of a model splits texts; of a long corpus, `MAX_TEXTS` texts at equal distances.

    None for a model without pretrained sub-words (the BiLSTM), and for texts without a character.
    """
    if not model.family.blocks:
        return None
    step = max(1, -(-len(texts) // MAX_TEXTS))
    sample = tuple(text[:MAX_TEXT_CHARACTERS] for text in texts[::step])
    known = _measured.setdefault(model.tokenizer, {})
    if sample not in known:
        known[sample] = _measure(model, sample)
    return known[sample]


def corpus_readability(model: LoadedModel, corpus: AnyCorpus) -> Readability | None:
    """The readability of the texts of a corpus; None for a corpus of language pairs."""
    text = corpus.kind.text
    step = max(1, -(-len(corpus) // MAX_TEXTS))
    return readability(model, [text(item) for item in corpus[::step]]) if text else None


def warn_unreadable(model: LoadedModel, corpora: Mapping[str, AnyCorpus]) -> None:
    """Warn of every corpus that the model cannot read, by its name or language, and say what to do."""
    for name, corpus in corpora.items():
        warn_if_unreadable(model, corpus_readability(model, corpus), f"{name} ({corpus.origin})")


def warn_if_unreadable(model: LoadedModel, readability: Readability | None, text: str) -> None:
    if readability and not readability.readable:
        effect = "scores and similarities on it say nothing about the language"
        warnings.warn(f"{text}: '{model.name}' cannot read it: {readability.problem}; {effect}; {ADVICE}", stacklevel=3)


def _measure(model: LoadedModel, texts: Sequence[str]) -> Readability | None:
    characters, size = sum(map(len, texts)), sum(len(text.encode("utf-8", "replace")) for text in texts)
    if not characters:
        return None
    ids = Counter(id for text_ids in tokenize(model, texts)["input_ids"] for id in text_ids)
    tokens = max(1, ids.total())
    unknown = ids[model.tokenizer.unk_token_id] / tokens if ids else 1.0
    partial = sum(ids[id] for id in _partial_characters(model.tokenizer, list(ids))) / tokens
    byte_limit = 1.0 if partial and _is_byte_tokenizer(model.tokenizer) else MAX_BYTE_PIECE_SHARE
    readable = unknown <= MAX_UNKNOWN_SHARE and partial <= byte_limit
    return Readability(unknown, partial, characters / tokens, size / tokens, readable)


def _partial_characters(tokenizer: PreTrainedTokenizerBase, ids: Sequence[int]) -> list[int]:
    """The ids of tokens that are a part of a character."""
    pieces = list(zip(ids, tokenizer.convert_ids_to_tokens(list(ids)), strict=True))
    if _is_byte_level(tokenizer):
        return [id for id, piece in pieces if not _is_text(piece)]
    fallback = [(id, BYTE_TOKEN.fullmatch(piece)) for id, piece in pieces]
    return [id for id, match in fallback if match and int(match[1], 16) >= 0x80]


def _is_byte_level(tokenizer: PreTrainedTokenizerBase) -> bool:
    return isinstance(getattr(getattr(tokenizer, "backend_tokenizer", None), "decoder", None), ByteLevel)


def _is_byte_tokenizer(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Whether no token of the vocabulary has several bytes."""
    special = set(tokenizer.all_special_tokens)
    return not any(len(piece) > 1 and piece not in special for piece in tokenizer.get_vocab())


def _is_text(piece: str) -> bool:
    """Whether a token of byte-level BPE consists of whole characters.

    >>> _is_text("Ġcat"), _is_text("Ã©"), _is_text("Ã")
    (True, True, False)
    """
    try:
        bytes(BYTE_OF_CHARACTER[character] for character in piece).decode("utf-8")
    except KeyError:  # a special token, which is not written in bytes
        return True
    except UnicodeDecodeError:
        return False
    return True


def _byte_alphabet() -> dict[str, int]:
    """The byte that each character stands for in byte-level BPE: itself if it is visible, or one from 256 on."""
    visible = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [value for value in range(256) if value not in visible]
    return {chr(value): value for value in visible} | {chr(256 + n): value for n, value in enumerate(others)}


BYTE_OF_CHARACTER = _byte_alphabet()
