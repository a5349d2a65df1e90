"""`Laboratory`: all corpora of the artificial languages, generated from one seed.

Raw text, treebanks and entities of different languages are sampled independently (comparable, not parallel); adjacent
lines of raw text often share a topic or a subject. Parallel text, inference pairs and questions have the same meanings
in every language, item by item. The content of a meaning determines its split, so that train, dev and test are
disjoint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import islice

from isogloss.core.registry import check_name
from isogloss.core.seeds import Chance
from isogloss.corpora.corpus import Corpus
from isogloss.corpora.formats import FORMATS
from isogloss.corpora.kinds.alignment import Alignment
from isogloss.corpora.kinds.bitext import AlignedPair
from isogloss.corpora.kinds.lexicon import Entry
from isogloss.corpora.kinds.ner import NerSentence
from isogloss.corpora.kinds.nli import NliPair
from isogloss.corpora.kinds.qa import Question
from isogloss.corpora.kinds.treebank import Tree
from isogloss.corpora.lab import annotate
from isogloss.corpora.lab.concepts import CONTENT_WORDS, names
from isogloss.corpora.lab.discourse import running_text
from isogloss.corpora.lab.languages import LANGUAGES, LabLanguage
from isogloss.corpora.lab.lexicon import lexicon
from isogloss.corpora.lab.meaning import Clause, fingerprint
from isogloss.corpora.lab.pairs import MeaningPair, PairGenerator
from isogloss.corpora.lab.questions import Story, StoryGenerator
from isogloss.corpora.lab.realise import realiser
from isogloss.corpora.lab.sampling import Sampler
from isogloss.corpora.lab.vocabulary import FUNCTION_WORDS, NAME_COUNTS
from isogloss.corpora.lab.words import Sentence
from isogloss.corpora.parallel import ParallelSet
from isogloss.languages.codes import pair_code

SPLITS = ("train", "dev", "test")
CONCEPTS = (*CONTENT_WORDS, *FUNCTION_WORDS)
NAMES = tuple(name for kind in NAME_COUNTS for name in names(kind))
NER_NAME_PERCENT = 55  # of persons and places with a proper name in NER corpora; other corpora have fewer
TOPIC_LINES = 8  # of raw text per topic, on average
DOMAINS = ("talk", "chronicle")  # of treebanks and NER: running text; proper names nearly everywhere


class Laboratory:
    """Corpora of the artificial languages; a corpus of `n` items is a prefix of any longer one.

    >>> lab = Laboratory(seed=0)
    >>> bank = lab.treebank("qla", "dev", 2)
    >>> len(bank), bank.lang, bank[0].sent_id
    (2, 'qla', 'qla-dev-1')
    """

    def __init__(self, seed: int = 0):
        self.seed = seed
        self.languages: dict[str, LabLanguage] = dict(LANGUAGES)

    def __repr__(self) -> str:
        return f"<laboratory of {len(self.languages)} languages; seed {self.seed}>"

    def check(self, lang: str, split: str = "train") -> str:
        """`lang`, if the language and the split exist."""
        check_name(split, SPLITS, "split")
        return check_name(lang, self.languages, "language of the laboratory")

    def sentences(self, lang: str, purpose: str = "text", split: str = "train", domain: str = "") -> Iterator[Sentence]:
        """An infinite stream of sentences of one language, with their annotation."""
        self.check(lang, split)
        check_name(domain, ("", *DOMAINS), "domain")
        running = purpose == "text" or domain == "talk"
        name_percent = 85 if domain == "chronicle" else NER_NAME_PERCENT if purpose == "ner" else 30
        chance = Chance(self.seed, purpose, split, lang, *filter(None, [domain]))
        sampler = Sampler(chance, name_percent=name_percent, topic_length=TOPIC_LINES if running else 1)
        stream = running_text(sampler, partial(belongs_to_split, split=split)) if running else _meanings(sampler, split)
        return map(realiser(lang).realise, stream)

    def text(self, lang: str, n: int) -> Corpus[str]:
        """Raw text, one sentence per line."""
        lines = tuple(sentence.text for sentence in islice(self.sentences(lang), n))
        return Corpus(lines, lang, FORMATS["text"], self._origin("text"))

    def treebank(self, lang: str, split: str, n: int, domain: str = "") -> Corpus[Tree]:
        """Sentences with their trees. `domain`: "", "talk" or "chronicle"."""
        sentences = enumerate(islice(self.sentences(lang, "treebank", split, domain), n), 1)
        named = "-".join(filter(None, (lang, split, domain)))
        trees = tuple(annotate.tree(sentence, f"{named}-{i}") for i, sentence in sentences)
        return Corpus(trees, lang, FORMATS["conllu"], self._origin("treebank", split, domain))

    def ner(self, lang: str, split: str, n: int, domain: str = "") -> Corpus[NerSentence]:
        """Sentences with their entities. `domain`: as for `treebank`."""
        items = tuple(map(annotate.entities, islice(self.sentences(lang, "ner", split, domain), n)))
        return Corpus(items, lang, FORMATS["ner-tsv"], self._origin("ner", split, domain))

    def nli(self, lang: str, split: str, n: int) -> Corpus[NliPair]:
        """Inference pairs with the same meanings in every language."""
        self.check(lang, split)
        realise = realiser(lang).realise
        pairs = _meaning_pairs(self.seed, split, n)
        items = tuple(NliPair(realise(p.premise).text, realise(p.hypothesis).text, p.label) for p in pairs)
        return Corpus(items, lang, FORMATS["nli-tsv"], self._origin("nli", split))

    def qa(self, lang: str, split: str, n: int) -> Corpus[Question]:
        """Stories with one question each; the same meanings and ids in every language."""
        self.check(lang, split)
        stories = enumerate(_stories(self.seed, split, n), 1)
        items = tuple(annotate.question(story, lang, f"{split}-{i}") for i, story in stories)
        return Corpus(items, lang, FORMATS["squad"], self._origin("qa", split))

    def parallel(self, langs: Sequence[str], n: int, split: str = "test") -> ParallelSet:
        """The same sentences in several languages, with their surface tokens."""
        sentences_by_lang = {lang: self._parallel(lang, n, split) for lang in langs}
        texts = {lang: tuple(sentence.text for sentence in sentences) for lang, sentences in sentences_by_lang.items()}
        tokens = {lang: tuple(map(_tokens, sentences)) for lang, sentences in sentences_by_lang.items()}
        ids = tuple(f"parallel-{split}-{i}" for i in range(1, n + 1))
        return ParallelSet(texts, ids, tokens, self._origin("parallel", split))

    def alignments(self, source: str, target: str, n: int, split: str = "test") -> Corpus[Alignment]:
        """The gold word alignments of the sentences of `parallel`."""
        items = tuple(pair.alignment for pair in self.bitext(source, target, n, split))
        return Corpus(items, pair_code(source, target), FORMATS["pharaoh"], self._origin("parallel", split))

    def bitext(self, source: str, target: str, n: int, split: str = "train") -> Corpus[AlignedPair]:
        """Sentence pairs with their gold word links."""
        pairs = zip(self._parallel(source, n, split), self._parallel(target, n, split))
        items = tuple(AlignedPair(_tokens(s), _tokens(t), annotate.links(s, t)) for s, t in pairs)
        return Corpus(items, pair_code(source, target), FORMATS["aligned-jsonl"], self._origin("parallel", split))

    def lexicon(self, source: str, target: str) -> Corpus[Entry]:
        """A dictionary of the citation forms of all concepts and names."""
        source_words, target_words = (lexicon(self.check(lang)) for lang in (source, target))
        entries = [Entry(source_words.citation(concept), target_words.citation(concept)) for concept in CONCEPTS]
        entries += [Entry(source_words.name(name, "").form, target_words.name(name, "").form) for name in NAMES]
        return Corpus(tuple(entries), pair_code(source, target), FORMATS["lexicon"], self._origin("lexicon"))

    def _parallel(self, lang: str, n: int, split: str) -> list[Sentence]:
        self.check(lang, split)
        return list(map(realiser(lang).realise, _parallel_meanings(self.seed, split, n)))

    def _origin(self, *parts: str) -> str:
        return " ".join(("laboratory", f"seed {self.seed}", *filter(None, parts)))


def belongs_to_split(meaning: Clause, split: str) -> bool:
    """Whether a meaning belongs to a split: one eighth of all meanings is test, one eighth is dev."""
    return split == {0: "test", 1: "dev"}.get(fingerprint(meaning) % 8, "train")


def _meanings(sampler: Sampler, split: str) -> Iterator[Clause]:
    while True:
        meaning = sampler.sentence()
        if belongs_to_split(meaning, split):
            yield meaning


@lru_cache(maxsize=8)  # the same meanings serve every language
def _parallel_meanings(seed: int, split: str, n: int) -> tuple[Clause, ...]:
    return tuple(islice(_meanings(Sampler(Chance(seed, "parallel", split)), split), n))


@lru_cache(maxsize=8)
def _meaning_pairs(seed: int, split: str, n: int) -> tuple[MeaningPair, ...]:
    pairs = PairGenerator(Chance(seed, "nli", split)).pairs()
    return tuple(islice((pair for pair in pairs if belongs_to_split(pair.premise, split)), n))


@lru_cache(maxsize=8)
def _stories(seed: int, split: str, n: int) -> tuple[Story, ...]:
    stories = StoryGenerator(Chance(seed, "qa", split)).stories()
    return tuple(islice((story for story in stories if belongs_to_split(story.events[story.about], split)), n))


def _tokens(sentence: Sentence) -> tuple[str, ...]:
    return tuple(word.fused or word.form for word in sentence.tokens)
