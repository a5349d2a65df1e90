"""Another word order: the same tree under a new numbering, and sentences as a speaker would put them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shared_data import rest_slow, shared

from isogloss import Laboratory, read_treebank, reorder
from isogloss.core.errors import UnknownName, UsageError
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats.conllu import FORMAT
from isogloss.corpora.kinds.treebank import Row, Tree, surface_text
from isogloss.text.changes.reordering import ORDERS


def tree(*words: tuple[str, str, int, str], feats: str = "") -> Tree:
    """A sentence from (form, upos, head, relation); punctuation clings to the word before it."""
    rows = []
    for i, (form, upos, head, relation) in enumerate(words, 1):
        glued = i < len(words) and words[i][1] == "PUNCT"
        marks = f"PronType={feats}" if form in ("whom", "What") and feats else "_"
        row = Row(str(i), form, form if form == "I" else form.lower(), upos, "_", marks, str(head), relation, "_", "_")
        rows.append(row._replace(misc="SpaceAfter=No" if glued else "_"))
    return Tree((f"# text = {surface_text(rows)}",), tuple(rows))


def bank(*trees: Tree) -> Corpus[Tree]:
    return Corpus(trees, "en", FORMAT)


SEES = tree(
    ("The", "DET", 2, "det"), ("dog", "NOUN", 4, "nsubj"), ("has", "AUX", 4, "aux"), ("seen", "VERB", 0, "root"),
    ("a", "DET", 6, "det"), ("cat", "NOUN", 4, "obj"), ("today", "ADV", 4, "advmod"), (".", "PUNCT", 4, "punct"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("order", "text"),
    [
        ("SVO", "The dog has seen a cat today."),
        ("SOV", "The dog a cat has seen today."),
        ("VSO", "Has seen the dog a cat today."),
        ("VOS", "Has seen a cat the dog today."),
        ("OSV", "A cat the dog has seen today."),
        ("OVS", "A cat has seen the dog today."),
    ],
)
def test_orders_of_one_clause(order: str, text: str) -> None:
    assert reorder(bank(SEES), order)[0].text == text


def test_clauses_within_clauses_and_words_that_stay_first() -> None:
    sentence = tree(
        ("I", "PRON", 2, "nsubj"), ("know", "VERB", 0, "root"), ("that", "SCONJ", 5, "mark"),
        ("you", "PRON", 5, "nsubj"), ("see", "VERB", 2, "ccomp"), ("Ann", "PROPN", 5, "obj"),
        (",", "PUNCT", 10, "punct"), ("whom", "PRON", 10, "obj"), ("he", "PRON", 10, "nsubj"),
        ("likes", "VERB", 6, "acl:relcl"), (".", "PUNCT", 2, "punct"), feats="Rel",
    )  # fmt: skip
    assert reorder(bank(sentence), "SOV")[0].text == "I know that you Ann, whom he likes see."
    assert reorder(bank(sentence), "VSO")[0].text == "Know I that see you Ann, whom likes he."


def check_same_tree(old: Tree, new: Tree) -> None:
    """Isomorphic: words with their annotation and relations are the same, up to numbering and the first capital."""

    def arcs(tree: Tree) -> list[tuple[str, ...]]:
        nodes = tree.nodes
        heads = ["" if h == 0 else nodes[h - 1].form.lower() for h in tree.heads]
        return sorted((row.form.lower(), *row[2:6], row.deprel, head) for row, head in zip(nodes, heads, strict=True))

    assert arcs(old) == arcs(new)


def spans_are_whole(tree: Tree) -> bool:
    """Projective: what depends on a word, with it, is an unbroken span."""
    heads = tree.heads
    for word in range(1, len(heads) + 1):
        inside = {word}
        while more := {i for i, head in enumerate(heads, 1) if head in inside} - inside:
            inside |= more
        if max(inside) - min(inside) + 1 != len(inside):
            return False
    return True


@st.composite
def random_trees(draw: st.DrawFn) -> Tree:
    n = draw(st.integers(1, 9))
    heads = [draw(st.integers(0, i - 1)) if i > 1 else 0 for i in range(1, n + 1)]
    places = draw(st.permutations(range(1, n + 1)))
    relations = st.sampled_from(["nsubj", "obj", "iobj", "aux", "punct", "det", "advmod", "conj"])
    words = []
    for i in range(n):
        if heads[i] == 0 and i:
            heads[i] = 1
    order = {old: new for new, old in enumerate(places, 1)}
    rows = sorted((order[i + 1], order.get(heads[i], 0)) for i in range(n))
    for i, head in rows:
        relation = draw(relations) if head else "root"
        upos = "PUNCT" if relation == "punct" else draw(st.sampled_from(["VERB", "NOUN"]))
        words.append((f"w{i}", upos, head, relation))
    return tree(*words)


@given(random_trees(), st.sampled_from(ORDERS))
def test_any_tree_stays_the_same_tree(sentence: Tree, order: str) -> None:
    (new,) = reorder(bank(sentence), order)
    check_same_tree(sentence, new)
    assert [row.id for row in new.nodes] == [str(i + 1) for i in range(len(new.nodes))]
    assert new.text == surface_text(new.rows)
    inner = [row for row in sentence.nodes if row.upos != "PUNCT"]
    if len(inner) == len(sentence.nodes):
        assert new == sentence or spans_are_whole(new)
    heads = {nodes.upos for nodes in new.nodes if int(nodes.id) in new.heads}
    if spans_are_whole(new) and "PUNCT" not in heads:  # which stays at the end, wherever its dependents should be
        assert reorder(bank(new), order)[0].words == new.words


REAL = ["English-EWT/en_ewt-ud-dev", "Spanish-PUD/es_pud-ud-test", "French-PUD/fr_pud-ud-test"]


@pytest.mark.parametrize("name", rest_slow(REAL, fast=REAL[:1]))
def test_real_treebanks(name: str, tmp_path: Path) -> None:
    real = read_treebank(shared(f"data/ud/UD_{name}.conllu.xz"))
    new = reorder(real, "SOV")
    new.write(tmp_path / "new.conllu")
    again = read_treebank(tmp_path / "new.conllu", lang=real.lang)  # valid, ranges and empty nodes too
    assert again.counts["words"] == real.counts["words"]
    assert again.counts.get("empty nodes") == real.counts.get("empty nodes")
    moved = 0
    for old, now in zip(real, again, strict=True):
        moved += old.words != now.words
        check_same_tree(old, now)
        assert now.text == surface_text(now.rows)
        if old.nodes[-1].upos == "PUNCT":
            assert now.nodes[-1].form == old.nodes[-1].form
    assert 0.3 < moved / len(real) < 0.9


def test_spaces_are_those_of_the_new_neighbours() -> None:
    """Whatever the order, a comma clings to the word before it and no two words grow together."""
    real = read_treebank(shared("data/ud/UD_English-PUD/en_pud-ud-test.conllu.xz"))
    for old, new in zip(real, reorder(real, "SOV"), strict=True):
        assert " ," not in new.text and " ." not in new.text.replace(" ...", "").replace(" . . .", "")
        assert len(new.text.split()) in range(len(old.text.split()) - 2, len(old.text.split()) + 3)


def test_enhanced_heads_and_empty_nodes_follow(tmp_path: Path) -> None:
    path = tmp_path / "en_x-ud-test.conllu"
    path.write_text(
        "1\tAnn\tAnn\tPROPN\t_\t_\t2\tnsubj\t2:nsubj\t_\n2\tlikes\tlike\tVERB\t_\t_\t0\troot\t0:root\t_\n"
        "2.1\tlikes\tlike\tVERB\t_\t_\t_\t_\t2:conj\t_\n3\ttea\ttea\tNOUN\t_\t_\t2\tobj\t2:obj|2.1:obj\t_\n\n"
    )
    (new,) = reorder(read_treebank(path), "SOV")
    assert ["\t".join(row) for row in new.rows] == [
        "1\tAnn\tAnn\tPROPN\t_\t_\t3\tnsubj\t3:nsubj\t_",
        "2\ttea\ttea\tNOUN\t_\t_\t3\tobj\t3:obj|3.1:obj\t_",
        "3\tlikes\tlike\tVERB\t_\t_\t0\troot\t0:root\t_",
        "3.1\tlikes\tlike\tVERB\t_\t_\t_\t_\t3:conj\t_",
    ]


def test_a_verb_and_its_clitics_stay_one_token(tmp_path: Path) -> None:
    path = tmp_path / "es_x-ud-test.conllu"
    path.write_text(
        "# text = Dámelo.\n1-3\tDámelo\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n1\tDá\tdar\tVERB\t_\t_\t0\troot\t_\t_\n"
        "2\tme\tyo\tPRON\t_\t_\t1\tiobj\t_\t_\n3\tlo\tél\tPRON\t_\t_\t1\tobj\t_\t_\n4\t.\t.\tPUNCT\t_\t_\t1\tpunct\t_\t_\n\n"
    )
    assert reorder(read_treebank(path), "OVS")[0].text == "Dámelo."


def test_reflexives_go_with_their_verb_and_capitals_with_tokens(tmp_path: Path) -> None:
    path = tmp_path / "fr_x-ud-test.conllu"
    path.write_text(
        "# text = L'homme se lave.\n1-2\tL'homme\t_\t_\t_\t_\t_\t_\t_\t_\n1\tL'\tle\tDET\t_\t_\t2\tdet\t_\t_\n"
        "2\thomme\thomme\tNOUN\t_\t_\t4\tnsubj\t_\t_\n3\tse\tse\tPRON\t_\t_\t4\texpl:pv\t_\t_\n"
        "4\tlave\tlaver\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_\n\n"
    )
    assert reorder(read_treebank(path), "VSO")[0].text == "Se lave l'homme."


def test_crossing_arcs_alone_are_no_reason_to_move() -> None:
    sentence = tree(
        ("Ann", "PROPN", 2, "nsubj"), ("saw", "VERB", 0, "root"), ("men", "NOUN", 2, "obj"),
        ("today", "ADV", 2, "advmod"), ("who", "PRON", 6, "nsubj"), ("ran", "VERB", 3, "acl"),
    )  # fmt: skip
    assert not spans_are_whole(sentence)
    assert reorder(bank(sentence), "SVO")[0] == sentence
    assert reorder(bank(sentence), "SOV")[0].text == "Ann men who ran saw today"


def test_probability_and_seed() -> None:
    lab = Laboratory(seed=0).treebank("qla", "train", 300)
    always, half = reorder(lab, "OSV"), reorder(lab, "OSV", probability=0.5, seed=1)
    moved = [a != b for a, b in zip(lab, always, strict=True)]
    some = [a != b for a, b in zip(lab, half, strict=True)]
    assert abs(sum(some) / sum(moved) - 0.5) < 0.12
    assert half == reorder(lab, "OSV", probability=0.5, seed=1) != reorder(lab, "OSV", probability=0.5, seed=2)
    assert reorder(lab, "OSV", probability=0.0) == lab


def test_what_makes_no_sense_is_told() -> None:
    with pytest.raises(UnknownName, match="unknown order 'SOW'; did you mean"):
        reorder(bank(SEES), "SOW")
    with pytest.raises(UsageError, match="expected a treebank"):
        reorder(Laboratory(seed=0).ner("qla", "train", 2), "SOV")  # type: ignore[arg-type]
