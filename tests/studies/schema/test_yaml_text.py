from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isogloss.core.errors import InputError
from isogloss.studies.schema.yaml_text import parse_yaml

LEAVES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(LEAVES | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=8)


@given(JSON.filter(lambda value: "\x7f" not in json.dumps(value)))
def test_json_is_yaml(value: object) -> None:
    text = json.dumps(value)  # ASCII: surrogates and control characters are escaped
    if any(f"\\ud{digit}" in text.lower() for digit in "89abcdef"):
        return  # pairs of escapes are one character to JSON alone
    assert parse_yaml(text)[0] == value


@given(st.text(alphabet="ab:- \n[]{}&*!|>'\"#,<%@`\t01.e", max_size=60))
def test_any_text_is_a_value_or_an_input_error(text: str) -> None:
    try:
        parse_yaml(text, "x.yaml")
    except InputError as error:
        assert str(error).startswith("x.yaml")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{no: yes, on: off, y: n}", {"no": "yes", "on": "off", "y": "n"}),
        ("lr: 5e-5", {"lr": 5e-5}),
        ("1: 2020-01-01", {"1": "2020-01-01"}),
        ("[1:30, 0o7, 012, 1_000]", ["1:30", "0o7", 12, "1_000"]),
        ("'5'", "5"),
        ("a: &x {b: 1, c: 2}\nd: {<<: *x, c: 3}", {"a": {"b": 1, "c": 2}, "d": {"b": 1, "c": 3}}),
        ("", None),
    ],
)
def test_plain_words(text: str, value: object) -> None:
    assert parse_yaml(text)[0] == value


def test_lines_are_kept() -> None:
    lines = parse_yaml("a:\n  b: 1\n  c:\n    - x\n    - y\n")[1]
    assert lines["a",] == 1
    assert lines["a", "b"] == 2
    assert lines["a", "c", 1] == 5


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: 1\nb: 2\na: 3\n", "x.yaml:3: expected each key once, got the key 'a' twice"),
        ("a: [1\nb: 2", "x.yaml:2: expected YAML"),
        ("[x]: 1", "x.yaml:1: expected plain words as keys"),
        ("a: !!python/object:os.system x", "expected plain YAML"),
        ("a: &a [*a]", "expected"),
        ("--- 1\n--- 2\n", "expected YAML"),
    ],
)
def test_what_is_wrong_is_told(text: str, said: str) -> None:
    with pytest.raises(InputError, match=r"x\.yaml") as caught:
        parse_yaml(text, "x.yaml")
    assert said in str(caught.value)


def test_a_bomb_is_defused() -> None:
    bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
        f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in zip("abcdefgh", "bcdefghi")
    )
    with pytest.raises(InputError, match="at most 100000 values"):
        parse_yaml(bomb)
