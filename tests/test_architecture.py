"""The architecture, checked by reading the source: layers, packages, names, constants and types."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "isogloss"

# packages from the bottom up: each may import from those before it in this list, and from itself
LAYERS = (
    "core",
    "store",
    "languages",
    "corpora",
    "metrics",
    "indexes",
    "results",
    "text",
    "models",
    "tasks",
    "training",
    "analysis",
    "report",
    "explorer",
    "studies",
    "diagnosis",
    "demo",
    "cli",
)
SUB_PACKAGES = {
    "models": {"loading", "tokenization", "states", "heads", "adapters", "vocabulary", "normformer", "interventions"},
    "training": {"engine", "finetuning", "language_modeling", "adjustment", "stacking"},
    "studies": {"schema", "planning", "execution"},
    "text": {"alignment", "changes", "cleaning", "transliteration"},
}
MAX_MODULES_PER_PACKAGE = 30
CORE_THIRD_PARTY = {"numpy", "torch"}

# names that say nothing about what they hold
VAGUE_NAMES = frozenset(
    (
        *("one", "found", "told", "own", "kept", "asked", "made", "given", "held", "known", "drawn", "used", "looked"),
        *("wanted", "lesson", "said", "taken", "thing", "things", "stuff", "alike", "apart", "whole"),
    )
)
MAX_VAGUE_SHARE = 0.003
EMPTY_MODULE_NAMES = {"work", "planned", "parts", "material", "look", "bench", "together", "utils", "helpers", "misc"}
MAX_ANY_PER_THOUSAND_LINES = 8


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def nodes(file: Path) -> list[ast.AST]:
    return list(ast.walk(tree(file)))


def files() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def name_of(file: Path) -> str:
    """The dotted name of a module."""
    parts = ("isogloss", *file.relative_to(SOURCE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(file: Path) -> set[str]:
    names: set[str] = set()
    for node in nodes(file):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import; write the whole path"
            names.add(node.module or "")
    return names


@pytest.mark.parametrize("file", files(), ids=lambda f: str(f.relative_to(SOURCE)))
def test_imports_go_one_way(file: Path) -> None:
    package = file.relative_to(SOURCE).parts[0]
    if package in ("__init__.py", "__main__.py"):
        package = "cli"  # the public names may come from anywhere
    assert package in LAYERS, f"{package} is not a package of the map"
    allowed = LAYERS[: LAYERS.index(package) + 1]
    for module in imported_modules(file):
        if module.startswith("isogloss."):
            other = module.split(".")[1]
            assert other in allowed, f"{package} must not import {other}"


def runtime_imports(file: Path, modules: set[str]) -> set[str]:
    """Those of `modules` that a module imports when it is imported itself."""
    names: set[str] = set()
    for node in tree(file).body:
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            members = {f"{node.module}.{alias.name}" for alias in node.names}
            names |= members & modules or {node.module}
    return names & modules


def test_no_module_imports_itself_through_others() -> None:
    modules = {name_of(file) for file in files()}
    graph = {name_of(file): runtime_imports(file, modules) - {name_of(file)} for file in files()}
    while leaves := {name for name, needed in graph.items() if not needed}:
        graph = {name: needed - leaves for name, needed in graph.items() if name not in leaves}
    assert not graph, f"import cycle among {sorted(graph)}"


def test_packages_are_those_of_the_map() -> None:
    packages = {folder.name for folder in SOURCE.iterdir() if (folder / "__init__.py").exists()}
    assert packages == set(LAYERS)
    for package, expected in SUB_PACKAGES.items():
        inside = {folder.name for folder in (SOURCE / package).iterdir() if (folder / "__init__.py").exists()}
        assert expected <= inside, f"{package} lacks {expected - inside}"


def test_packages_stay_small() -> None:
    counts = Counter(file.parent for file in files() if file.name != "__init__.py")
    large = {str(folder.relative_to(SOURCE)): count for folder, count in counts.items()}
    assert not {name: count for name, count in large.items() if count > MAX_MODULES_PER_PACKAGE}


def test_module_names_say_what_is_inside() -> None:
    assert not [str(file.relative_to(SOURCE)) for file in files() if file.stem in EMPTY_MODULE_NAMES]


@pytest.mark.parametrize("file", sorted((SOURCE / "core").glob("*.py")), ids=lambda f: f.name)
def test_core_needs_the_standard_library_only(file: Path) -> None:
    for module in imported_modules(file):
        top = module.split(".")[0]
        assert top in sys.stdlib_module_names | CORE_THIRD_PARTY | {"isogloss"}, f"core imports {top}"


@pytest.mark.parametrize("file", [f for f in files() if "cli" not in f.parts], ids=lambda f: f.name)
def test_only_the_command_line_prints(file: Path) -> None:
    calls = [n for n in nodes(file) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    assert not [c for c in calls if c.func.id == "print"], "only cli/ prints"  # type: ignore[attr-defined]


def assigned_names(file: Path) -> list[str]:
    """Variables, parameters, attributes of self, fields and functions that a module defines."""
    names: list[str] = []
    for node in nodes(file):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.append(node.id)
        elif isinstance(node, ast.arg):
            names.append(node.arg)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.append(node.attr)
    return names


def test_names_say_what_they_hold() -> None:
    names = [(name, file) for file in files() for name in assigned_names(file)]
    vague = [f"{file.relative_to(SOURCE)}: {name}" for name, file in names if name.strip("_") in VAGUE_NAMES]
    assert len(vague) / len(names) < MAX_VAGUE_SHARE, f"{len(vague)} of {len(names)}: {vague}"


def is_number(value: ast.expr) -> bool:
    """Whether an expression is a number or a sum, product … of numbers."""
    allowed = (ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Constant)
    constants = [node.value for node in ast.walk(value) if isinstance(node, ast.Constant)]
    return all(isinstance(node, allowed) for node in ast.walk(value)) and all(
        isinstance(constant, int | float) and not isinstance(constant, bool) for constant in constants
    )


def numeric_constants(file: Path) -> list[str]:
    names: list[str] = []
    for node in tree(file).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and target.id.isupper() and isinstance(value, ast.expr) and is_number(value):
            names.append(target.id)
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            names += [name.id for name, part in pairs if isinstance(name, ast.Name) and is_number(part)]
    return names


def test_numeric_constants_name_their_quantity() -> None:
    """Two words at least: `MIN_CHECKPOINT_SECONDS`, not `APART`."""
    constants = {f"{file.relative_to(SOURCE)}: {name}" for file in files() for name in numeric_constants(file)}
    assert len(constants) > 50
    assert not sorted(name for name in constants if "_" not in name.partition(": ")[2].strip("_"))


def test_types_are_stated() -> None:
    texts = [file.read_text(encoding="utf-8") for file in files()]
    uses = sum(len(re.findall(r"\bAny\b", text)) for text in texts)
    lines = sum(text.count("\n") for text in texts)
    assert 1000 * uses / lines <= MAX_ANY_PER_THOUSAND_LINES, f"{uses} in {lines} lines"


@pytest.mark.parametrize(
    ("name", "homes"),
    [
        ("save_pretrained", {"models/loading/save.py"}),
        ("hashlib", {"core/hashing.py"}),
        (r"optimizer\.zero_grad|\.backward\(\)", {"training/engine/updater.py", "training/engine/cuda_graphs.py"}),
    ],
)
def test_one_place_for_one_thing(name: str, homes: set[str]) -> None:
    users = {
        str(file.relative_to(SOURCE)) for file in files() if re.search(rf"\b{name}\b", file.read_text(encoding="utf-8"))
    }
    assert users <= homes


def test_public_names_exist() -> None:
    import isogloss

    for name in isogloss.PUBLIC:
        assert getattr(isogloss, name) is not None
    assert (SOURCE / "py.typed").exists()
