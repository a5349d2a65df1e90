"""The pretraining languages of well-known multilingual models, as listed by their authors.

- mBERT: the 104 Wikipedias of `bert-base-multilingual-cased`,
  https://github.com/google-research/bert/blob/master/multilingual.md
- XLM-R: the 100 languages of CC-100, romanised Indian languages and the Zawgyi font counted separately,
  Conneau et al. 2020, https://arxiv.org/abs/1911.02116, table 6
- XGLM: 30 languages, Lin et al. 2022, https://arxiv.org/abs/2112.10668, table 1
"""

from __future__ import annotations

from functools import cache

from isogloss.core.registry import check_name
from isogloss.languages.codes import canonical

PRETRAINING_LISTS = {
    "mBERT": """
        af an ar ast az azb ba bar be bg bn bpy br bs ca ce ceb cs cv cy da de el en es et eu fa fi fr fy ga gl
        gu he hi hr ht hu hy id io is it ja jv ka kk kn ko ky la lb lmo lt lv mg min mk ml mn mr ms my nb nds ne
        new nl nn oc pa pl pms pnb pt ro ru scn sco sh sk sl sq sr su sv sw ta te tg th tl tr tt uk ur uz vi vo
        war yo zh-Hans zh-Hant
    """,
    "XLM-R": """
        af am ar as az be bg bn bn-Latn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi
        hi-Latn hr hu hy id is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my my-x-zawgyi ne nl no
        om or pa pl ps pt ro ru sa sd si sk sl so sq sr su sv sw ta ta-Latn te te-Latn th tl tr ug uk ur ur-Latn
        uz vi xh yi zh-Hans zh-Hant
    """,
    "XGLM": "ar bg bn ca de el en es et eu fi fr hi ht id it ja ko my pt qu ru sw ta te th tr ur vi zh",
}

# which language of a macro-language the text of a list is in, where its authors say so: "Kurdish (Kurmanji)"
LISTED_MEMBERS = {"ku": "kmr"}


@cache
def pretraining_languages(model: str) -> frozenset[str]:
    """The pretraining languages of a model as canonical codes, without variants of script or spelling.

    >>> "ug" in pretraining_languages("XLM-R"), "ug" in pretraining_languages("mBERT")
    (True, False)
    """
    listed = PRETRAINING_LISTS[check_name(model, PRETRAINING_LISTS, "pretraining list")]
    codes = {base_language(code) for code in listed.split()}
    return frozenset(codes | {LISTED_MEMBERS[code] for code in codes & LISTED_MEMBERS.keys()})


def pretrained_in(code: str) -> frozenset[str]:
    """The models that were pretrained on a language.

    >>> sorted(pretrained_in("br")), pretrained_in("wol")
    (['XLM-R', 'mBERT'], frozenset())
    """
    base = base_language(code)
    return frozenset(model for model in PRETRAINING_LISTS if base in pretraining_languages(model))


def base_language(code: str) -> str:
    """The language without script, region or variant; Bokmål is Norwegian, as in corpora.

    >>> base_language("zh-Hant"), base_language("sh"), base_language("nb")
    ('zh', 'sr', 'no')
    """
    base = canonical(code).partition("-")[0]
    return "no" if base == "nb" else base
