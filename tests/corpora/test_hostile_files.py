"""Every format, by its name in the registry, against the same hostile files.

Whatever the bytes: either one error that names the file, or items that are the same again once written and read.
A format gets its own sample below; the others' samples are fed to it as well.
"""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isogloss.core.errors import InputError
from isogloss.corpora.corpus import AnyCorpus, read_corpus
from isogloss.corpora.formats import FORMATS, detect_format

SAMPLES = {
    "conllu": "# text = Go\n1\tGo\tgo\tVERB\t_\t_\t0\troot\t_\t_\n2\t!\t!\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n" * 2,
    "panx": "en:Ada\tB-PER\nen:wrote\tO\n\nen:Rome\tB-LOC\n",
    "ner-tsv": "Ada\tB-PER\nwrote\tO\n\nRome\tB-LOC\n",
    "ner-space": "Ada B-PER\nwrote O\n\nRome B-LOC\n\n",
    "conll2003": "-DOCSTART- -X- -X- O\n\nEU NNP B-NP I-ORG\nsays VBZ B-VP O\n\nRome NNP B-NP I-LOC\n\n",
    "xnli": "language\tgold_label\tsentence1\tsentence2\tx\nfr\tneutral\tLe chat.\tGris.\t\nfr\t-\tA.\tB.\t1\n",
    "nli-tsv": "A dog.\tIt is old.\tneutral\nA dog.\tAn animal.\tentailment\n",
    "nli-jsonl": '{"gold_label": "-", "sentence1": "A dog.", "sentence2": "Old."}\n' * 2,
    "premise-jsonl": '{"premise": "A dog.", "hypothesis": "Old.", "label": "n"}\n' * 2,
    "snli-numbered": "1\t1\tA dog.\tIt is old.\n3\t3\tA dog.\tAn animal.\n",
    "squad": json.dumps(
        {
            "data": [
                {
                    "title": "T",
                    "paragraphs": [
                        {
                            "context": "Ada wrote.",
                            "qas": [{"id": "1", "question": "Who?", "answers": [{"text": "Ada", "answer_start": 0}]}],
                        }
                    ],
                }
            ]
        },
        indent=1,
    ),
    "parallel-tsv": "en\tfr\nA dog.\tUn chien.\nA cat.\tUn chat.\n",
    "fast-align": "a dog ||| un chien\na cat ||| un chat\n",
    "pharaoh": "0-0 1-1\n0-1 1?0\n",
    "pharaoh-1": "1-1 2-2\n1-2 2?1\n",
    "aligned-jsonl": '{"src_words": ["a", "dog"], "tgt_words": ["un", "chien"], "alignment": [[0, 0], [1, 1]]}\n' * 2,
    "lexicon": "dog\tchien\ncat\tchat\n",
    "text": "A dog.\n\nA cat.\n",
}
SUFFIX = {"conllu": ".conllu", "squad": ".json", "text": ".txt"}
SUFFIX |= dict.fromkeys(("nli-jsonl", "premise-jsonl", "aligned-jsonl"), ".jsonl")

good = "".join(SAMPLES.values()).encode()
HOSTILE = {
    "empty": b"",
    "only newlines": b"\n\n\n",
    "only spaces": b" \n \n",
    "only tabs": b"\t\t\n\t\n",
    "NUL bytes": b"\0" * 1000,
    "a binary file": bytes(range(256)) * 4,
    "Latin-1": "café\tB-LOC\n".encode("latin-1"),
    "UTF-16": "Ada\tB-PER\n".encode("utf-16"),
    "one line of 5 MB": b"a" * (5 << 20),
    "5 MB of brackets": b"[" * (5 << 20),
    "all samples": good,
    "brackets": b'{"data":' + b"[" * 3000 + b"]" * 3000 + b"}",
    "numbers": b"9" * 10_000,
    "line separators": "a\u2028b\tO\n\x0c\tO\n\x85\tO\n".encode(),
    "many columns": b"\t".join([b"x"] * 10_000) + b"\n",
    "JSON of another kind": b'{"data": {"paragraphs": [null, 1, "x"]}}\n',
    "not even a file name's format": b"\x1f\x8b\x08\x00",
}


def damaged(sample: bytes) -> dict[str, bytes]:
    middle = len(sample) // 2
    lines = sample.split(b"\n")
    return {
        "whole": sample,
        **{f"cut at {share} %": sample[: len(sample) * share // 100] for share in (10, 50, 90, 97, 99)},
        "no last newline": sample.rstrip(b"\n"),
        "byte-order mark": b"\xef\xbb\xbf" + sample,
        "CRLF": sample.replace(b"\n", b"\r\n"),
        "CR": sample.replace(b"\n", b"\r"),
        "a NUL": sample[:middle] + b"\0" + sample[middle:],
        "invalid UTF-8": sample[:middle] + b"\xff" + sample[middle:],
        "half a character": sample[:middle] + b"\xc3" + sample[middle:],
        "a column more": sample.replace(b"\t", b"\t\t", 1).replace(b" ", b"  ", 1),
        "a column less": sample.replace(b"\t", b"", 1).replace(b" ", b"", 1),
        "last column gone": b"\n".join(line.rpartition(b"\t")[0] for line in lines),
        "empty lines": sample.replace(b"\n", b"\n\n"),
        "no empty lines": sample.replace(b"\n\n", b"\n"),
        "numbers changed": sample.replace(b"1", b"7").replace(b"0", b"-3"),
        "twice": sample * 2,
        "backwards": b"\n".join(reversed(lines)),
    }


def check(path: Path, name: str) -> None:
    """Read strictly and with repair; what is read strictly must come back from being written."""
    for repair in (False, True):
        corpus = read_or_error(path, name, repair)
        if isinstance(corpus, InputError):
            assert corpus.path == str(path)
            assert "\n" not in str(corpus)
            assert len(str(corpus)) < 1000
            assert corpus.line is not None or name == "squad" or "item" in corpus.expected or "lang=" in corpus.expected
            continue
        assert corpus.items
        if not repair:
            assert not corpus.repairs
            copy = path.parent / "copy" / path.name
            corpus.write(copy)
            again = read_corpus(copy, FORMATS[name])
            assert (again.items, again.lang) == (corpus.items, corpus.lang)


def read_or_error(path: Path, name: str, repair: bool = False) -> AnyCorpus | InputError:
    try:
        return read_corpus(path, FORMATS[name], repair=repair)
    except InputError as error:
        return error


def place(tmp_path: Path, name: str, content: bytes, compression: str = "") -> Path:
    path = tmp_path / f"x{SUFFIX.get(name, '.tsv')}{compression}"
    path.write_bytes(content)
    return path


def test_every_format_has_a_sample_here() -> None:
    assert set(SAMPLES) == set(FORMATS)


@pytest.mark.parametrize("name", list(FORMATS))
def test_the_sample_is_read_without_repair_and_recognised(tmp_path: Path, name: str) -> None:
    path = place(tmp_path, name, SAMPLES[name].encode())
    format = FORMATS[name]
    assert len(read_corpus(path, format)) == (1 if name == "squad" else 2)
    assert detect_format(path).kind == format.kind
    assert detect_format(path, format.kind).name == name


@pytest.mark.parametrize(
    "name", ["conllu", "panx", "ner-tsv", "xnli", "nli-tsv", "nli-jsonl", "premise-jsonl", "snli-numbered", "squad"]
)
def test_a_file_cut_anywhere_is_an_error_or_ends_after_a_whole_record(tmp_path: Path, name: str) -> None:
    whole = SAMPLES[name].encode()
    items = read_corpus(place(tmp_path, name, whole), FORMATS[name]).items
    for end in range(len(whole)):
        corpus = read_or_error(place(tmp_path, name, whole[:end]), name)
        if isinstance(corpus, InputError):
            continue
        got, all_of_it = (
            [row for item in some for row in getattr(item, "rows", [item])] for some in (corpus.items, items)
        )
        assert got == all_of_it[: len(got)], f"cut at {end}"
        assert whole[:end].endswith((b"\n", b"}"))


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("name", list(FORMATS))
def test_hostile_bytes(tmp_path: Path, name: str, hostile: str) -> None:
    check(place(tmp_path, name, HOSTILE[hostile]), name)


@pytest.mark.parametrize("name", list(FORMATS))
def test_damaged_samples(tmp_path: Path, name: str) -> None:
    """Its own in every way; of the others', which are all wrong here, some."""
    for other, sample in SAMPLES.items():
        for content in [*damaged(sample.encode()).values()][:: 1 if other == name else 4]:
            check(place(tmp_path, name, content), name)


@pytest.mark.parametrize("name", list(FORMATS))
def test_cut_and_false_compression_is_an_error(tmp_path: Path, name: str) -> None:
    sample = SAMPLES[name].encode()
    for suffix, compress in ((".gz", gzip.compress), (".xz", lzma.compress)):
        whole = compress(sample)
        for content in (whole[: len(whole) // 2], whole[:-4], whole[:5], sample, b""):
            path = place(tmp_path, name, content, suffix)
            with pytest.raises(InputError, match=r"x\.\w+\.[gx]z"):
                read_corpus(path, FORMATS[name], repair=True)
        check(place(tmp_path, name, whole, suffix), name)


@pytest.mark.parametrize("name", list(FORMATS))
def test_a_missing_file_and_a_folder_are_errors(tmp_path: Path, name: str) -> None:
    for path in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(InputError):
            read_corpus(path, FORMATS[name])


PIECES = [
    "\t",
    "\n",
    " ",
    "\r\n",
    "O",
    "B-PER",
    "I-",
    "en:",
    "1",
    "-1",
    "2-3",
    "neutral",
    "|||",
    "{",
    "}",
    "[",
    '"',
    "\ud7ff",
]
PIECES += ['"data"', ":", ",", "_", "# x = y", "0-0", "é", "\ufeff", "-DOCSTART-"]


@pytest.mark.parametrize("name", list(FORMATS))
@settings(max_examples=40)
@given(data=st.data())
def test_random_bytes(tmp_path: Path, name: str, data: st.DataObject) -> None:
    """Pure noise, the format's own tokens in any order, and its sample with a piece overwritten."""
    kind = data.draw(st.sampled_from(["noise", "tokens", "overwritten"]))
    if kind == "noise":
        content = data.draw(st.binary(max_size=200))
    elif kind == "tokens":
        content = "".join(data.draw(st.lists(st.sampled_from(PIECES), max_size=30))).encode()
    else:
        sample = SAMPLES[name].encode()
        at = data.draw(st.integers(0, len(sample)))
        piece = data.draw(st.one_of(st.binary(max_size=4), st.sampled_from(PIECES).map(str.encode)))
        content = sample[:at] + piece + sample[at + data.draw(st.integers(0, 5)) :]
    check(place(tmp_path, name, content), name)


@settings(max_examples=40)
@given(
    content=st.one_of(
        st.binary(max_size=100), st.lists(st.sampled_from(PIECES), max_size=20).map(lambda x: "".join(x).encode())
    )
)
def test_finding_out_the_format_fails_only_with_a_clear_error(tmp_path: Path, content: bytes) -> None:
    for suffix in (".tsv", ".json", ".jsonl", ".txt", ".csv"):
        path = tmp_path / f"x{suffix}"
        path.write_bytes(content)
        try:
            format = detect_format(path)
        except InputError:
            continue
        assert format.name in FORMATS
