"""Training of tokenizers: WordPiece, BPE, unigram, characters and bytes.

`wordpiece` is the kind of BERT; `bpe` is byte-level, as in RoBERTa and Llama 3, and encodes any text; `unigram` is the
kind of XLM-R; `characters` and `bytes` have no sub-words. All are cased and put special tokens around a sentence:
[CLS] … [SEP] for masked models, <s> … </s> for causal models.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
CAUSAL_SPECIALS = {"pad": "<pad>", "unk": "<unk>", "bos": "<s>", "eos": "</s>"}
BYTE_VALUES = 256
MAX_ALPHABET_CHARACTERS = 1000  # of WordPiece


def train_tokenizer(
    text: Iterable[str],
    kind: str = "wordpiece",
    vocabulary: int = 8000,
    *,
    alphabet: str = "",
    causal: bool = False,
    length: int = 512,
) -> PreTrainedTokenizerFast:
    """A cased tokenizer trained on `text`.

    Args:
        text: Lines of text.
        kind: "wordpiece", "bpe", "unigram", "characters" or "bytes".
        vocabulary: The maximum number of tokens, special tokens included.
        alphabet: Characters to include even if the text lacks them, so that words of other languages can be encoded.
        causal: Use the special tokens of causal models.
        length: The maximum number of tokens of an input.

    >>> train_tokenizer(["abc abd"] * 5, "bytes").tokenize("ab é")
    ['a', 'b', 'Ġ', 'Ã', '©']
    """
    specials = CAUSAL_SPECIALS if causal else SPECIALS
    minimum = len(specials) + (BYTE_VALUES if kind in ("bpe", "bytes") else 1)
    if vocabulary < minimum:
        raise UsageError(f"a vocabulary of the kind '{kind}' needs at least {minimum} tokens, got {vocabulary}")
    lines = chain(text, (2 * character for character in alphabet))  # as first and as later character of a word
    tokenizer = KINDS[check_name(kind, KINDS, "kind of tokenizer")](lines, vocabulary, specials)
    if len(specials) == tokenizer.get_vocab_size():
        raise UsageError("the text that the tokenizer is trained on is empty")
    return _wrap(tokenizer, specials, length)


def _wordpiece(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """Characters are numbered before training: the trainer's numbering, and its ties, vary between runs."""
    blank = Tokenizer(models.WordPiece(unk_token=specials["unk"]))
    blank.normalizer = normalizers.NFC()
    blank.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    lines = list(text)
    alphabet, inner = _alphabet(blank, lines)
    first = {**specials, **{piece: piece for piece in inner}}
    trainer = trainers.WordPieceTrainer(
        vocab_size=max(vocabulary, len(first)),
        special_tokens=list(first.values()),
        initial_alphabet=alphabet,
        limit_alphabet=len(alphabet),
        show_progress=False,
    )
    blank.train_from_iterator(lines, trainer)
    tokenizer = Tokenizer(models.WordPiece(blank.get_vocab(), unk_token=specials["unk"]))
    tokenizer.add_special_tokens(list(specials.values()))
    tokenizer.normalizer, tokenizer.pre_tokenizer = blank.normalizer, blank.pre_tokenizer
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _alphabet(tokenizer: Tokenizer, lines: list[str]) -> tuple[list[str], list[str]]:
    """The most frequent characters, and the continuation pieces of those that occur inside words."""
    chunks = Counter(chunk for line in lines for chunk in tokenizer.normalizer.normalize_str(line).split())
    words: Counter[str] = Counter()
    for chunk, count in chunks.items():
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(chunk):
            words[word] += count
    frequencies = Counter("".join(words.elements()))
    alphabet = sorted(frequencies, key=lambda character: (-frequencies[character], character))[:MAX_ALPHABET_CHARACTERS]
    inside = {character for word in words for character in word[1:]}
    return sorted(alphabet), [f"##{character}" for character in sorted(inside & set(alphabet))]


def _byte_pairs(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    marks = list(specials.values())
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary, special_tokens=marks, initial_alphabet=alphabet, show_progress=False
    )
    tokenizer.train_from_iterator(text, trainer)
    return tokenizer


def _bytes(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """One token per byte: BPE without merges."""
    return _byte_pairs([], len(specials) + BYTE_VALUES, specials)


def _unigram(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """Pieces are sorted after training: the trainer returns equally likely pieces in any order."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    marks, unknown = list(specials.values()), specials["unk"]
    trainer = trainers.UnigramTrainer(
        vocab_size=vocabulary, special_tokens=marks, unk_token=unknown, show_progress=False
    )
    tokenizer.train_from_iterator(text, trainer)
    pieces = [(piece, round(score, 5)) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    special_pieces, words = pieces[: len(specials)], dict(pieces[len(specials) :])
    # the trainer gives rare characters the lowest score plus 0.0001 times their rank, in any order; sort them
    singles = [piece for piece in words if len(piece) == 1]
    rare = sorted(piece for piece in singles if words[piece] <= min(words.values()) + 0.0001 * len(singles))
    words |= dict(zip(rare, sorted((words[piece] for piece in rare), reverse=True), strict=True))
    ordered = sorted(words.items(), key=lambda piece: (-piece[1], piece[0]))
    tokenizer.model = models.Unigram([*special_pieces, *ordered], unk_id=list(specials).index("unk"))
    return tokenizer


def _characters(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """One token for each of the most frequent characters: BPE without merges."""
    clean = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), "▁")])
    frequencies = Counter(character for line in text for character in clean.normalize_str(line))
    frequent = sorted(frequencies, key=lambda character: (-frequencies[character], character))
    tokens = [*specials.values(), *frequent][:vocabulary]
    vocab = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab, [], unk_token=specials["unk"]))
    tokenizer.add_special_tokens(list(specials.values()))
    tokenizer.normalizer = clean
    tokenizer.pre_tokenizer = pre_tokenizers.Split("▁", "merged_with_next")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="never")
    return tokenizer


KINDS: dict[str, Callable[[Iterable[str], int, dict[str, str]], Tokenizer]] = {
    "wordpiece": _wordpiece,
    "bpe": _byte_pairs,
    "unigram": _unigram,
    "characters": _characters,
    "bytes": _bytes,
}


def _wrap(tokenizer: Tokenizer, specials: dict[str, str], length: int) -> PreTrainedTokenizerFast:
    """The tokenizer as a class of transformers, with special tokens around a sentence."""
    start, end = (specials.get("cls") or specials["bos"]), (specials.get("sep") or specials["eos"])
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in (start, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", pair=f"{start} $A {end} $B:1 {end}:1", special_tokens=ends
    )
    names = {f"{role}_token": mark for role, mark in specials.items()}
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=length, **names)
