"""Tokenizers trained on text: WordPiece, BPE, unigram, and two that need no training to speak of.

`wordpiece` is BERT's; `bpe` works on bytes, as RoBERTa's and Llama's successors do, and knows every text;
`unigram` is XLM-R's; `characters` and `bytes` give a view of text without sub-words. All keep case and put
special tokens around a sentence: [CLS] … [SEP] for masked models, <s> … </s> for causal ones.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import PreTrainedTokenizerFast

from isogloss.core.errors import UsageError
from isogloss.core.registry import check_name

SPECIALS = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
CAUSAL_SPECIALS = {"pad": "<pad>", "unk": "<unk>", "bos": "<s>", "eos": "</s>"}
BYTES = 256
ALPHABET = 1000  # characters that a word piece may begin or go on with


def train_tokenizer(
    text: Iterable[str],
    kind: str = "wordpiece",
    vocabulary: int = 8000,
    *,
    alphabet: str = "",
    causal: bool = False,
    length: int = 512,
) -> PreTrainedTokenizerFast:
    """A cased tokenizer of at most `vocabulary` tokens, special ones included, trained on `text`.

    `alphabet`: characters that it shall know though the text may lack them, so that words of other languages can be
    spelt out.

    >>> train_tokenizer(["abc abd"] * 5, "bytes").tokenize("ab é")
    ['a', 'b', 'Ġ', 'Ã', '©']
    """
    specials = CAUSAL_SPECIALS if causal else SPECIALS
    least = len(specials) + (BYTES if kind in ("bpe", "bytes") else 1)
    if vocabulary < least:
        raise UsageError(f"a vocabulary of the kind '{kind}' needs at least {least} tokens, got {vocabulary}")
    spelt = chain(text, (2 * character for character in alphabet))  # at the beginning of a word and within
    tokenizer = KINDS[check_name(kind, KINDS, "kind of tokenizer")](spelt, vocabulary, specials)
    if len(specials) == tokenizer.get_vocab_size():
        raise UsageError("the text that the tokenizer is trained on is empty")
    return _wrapped(tokenizer, specials, length)


def _wordpiece(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """Trained with all characters numbered beforehand: the trainer's own numbers, and with them its ties, vary."""
    blank = Tokenizer(models.WordPiece(unk_token=specials["unk"]))
    blank.normalizer = normalizers.NFC()
    blank.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    lines = list(text)
    alphabet, inner = _alphabet(blank, lines)
    first = {**specials, **{piece: piece for piece in inner}}
    options = {"initial_alphabet": alphabet, "limit_alphabet": len(alphabet)}
    trained = _trained(blank, lines, trainers.WordPieceTrainer, max(vocabulary, len(first)), first, **options)
    tokenizer = Tokenizer(models.WordPiece(trained.get_vocab(), unk_token=specials["unk"]))
    tokenizer.add_special_tokens(list(specials.values()))
    tokenizer.normalizer, tokenizer.pre_tokenizer = trained.normalizer, trained.pre_tokenizer
    tokenizer.decoder = decoders.WordPiece()
    return tokenizer


def _alphabet(tokenizer: Tokenizer, lines: list[str]) -> tuple[list[str], list[str]]:
    """The most frequent characters of words, and those of them that continue a word, as pieces."""
    chunks = Counter(chunk for line in lines for chunk in tokenizer.normalizer.normalize_str(line).split())
    words: Counter[str] = Counter()
    for chunk, number in chunks.items():
        for word, _ in tokenizer.pre_tokenizer.pre_tokenize_str(chunk):
            words[word] += number
    seen: Counter[str] = Counter()
    for word, number in words.items():
        for character in word:
            seen[character] += number
    alphabet = sorted(seen, key=lambda character: (-seen[character], character))[:ALPHABET]
    inside = {character for word in words for character in word[1:]}
    return sorted(alphabet), [f"##{character}" for character in sorted(inside & set(alphabet))]


def _byte_pairs(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    return _trained(tokenizer, text, trainers.BpeTrainer, vocabulary, specials, initial_alphabet=alphabet)


def _bytes(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """One token per byte: byte pairs without a single merge."""
    return _byte_pairs([], len(specials) + BYTES, specials)


def _unigram(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """Trained, then put in order: pieces that are as likely come out in any order."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    options = {"unk_token": specials["unk"]}
    _trained(tokenizer, text, trainers.UnigramTrainer, vocabulary, specials, **options)
    pieces = [(piece, round(score, 5)) for piece, score in json.loads(tokenizer.to_str())["model"]["vocab"]]
    marks, words = pieces[: len(specials)], dict(pieces[len(specials) :])
    # rare characters get the lowest score plus 0.0001 for each before them, in any order: here in that of the alphabet
    singles = [piece for piece in words if len(piece) == 1]
    rare = sorted(piece for piece in singles if words[piece] <= min(words.values()) + 0.0001 * len(singles))
    words |= dict(zip(rare, sorted((words[piece] for piece in rare), reverse=True), strict=True))
    ordered = sorted(words.items(), key=lambda piece: (-piece[1], piece[0]))
    tokenizer.model = models.Unigram([*marks, *ordered], unk_id=list(specials).index("unk"))
    return tokenizer


def _characters(text: Iterable[str], vocabulary: int, specials: dict[str, str]) -> Tokenizer:
    """One token per character, the most frequent ones: byte pairs' model again, without merges."""
    clean = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), "▁")])
    seen = Counter(character for line in text for character in clean.normalize_str(line))
    frequent = sorted(seen, key=lambda character: (-seen[character], character))[: vocabulary - len(specials)]
    known = {token: number for number, token in enumerate([*specials.values(), *frequent])}
    tokenizer = Tokenizer(models.BPE(known, [], unk_token=specials["unk"]))
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


def _trained(
    tokenizer: Tokenizer, text: Iterable[str], trainer: Any, vocabulary: int, specials: dict[str, str], **options: Any
) -> Tokenizer:
    marks = list(specials.values())
    training = trainer(vocab_size=vocabulary, special_tokens=marks, show_progress=False, **options)
    tokenizer.train_from_iterator(text, training)
    return tokenizer


def _wrapped(tokenizer: Tokenizer, specials: dict[str, str], length: int) -> PreTrainedTokenizerFast:
    """With the special tokens around a sentence, as the model library knows it."""
    start, end = (specials.get("cls") or specials["bos"]), (specials.get("sep") or specials["eos"])
    ends = [(mark, tokenizer.token_to_id(mark)) for mark in (start, end)]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", pair=f"{start} $A {end} $B:1 {end}:1", special_tokens=ends
    )
    names = {f"{role}_token": mark for role, mark in specials.items()}
    fast: Any = PreTrainedTokenizerFast
    wrapped: PreTrainedTokenizerFast = fast(tokenizer_object=tokenizer, model_max_length=length, **names)
    return wrapped
