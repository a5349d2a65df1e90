"""What the site has beyond the pages of docs/: the notebook and the list of study files, and links that leave docs/."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
SOURCE = "https://github.com/isogloss/isogloss/blob/main/"
STUDIES = "papers.md"  # the page made of studies/README.md


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds pages that are written elsewhere: the notebooks, and what stands in studies/."""
    listed = (ROOT / "studies" / "README.md").read_text(encoding="utf-8").replace("](../docs/", "](")
    files.append(File.generated(config, STUDIES, content=listed))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        page = notebook_page(Path(config.docs_dir) / file.src_uri)
        files.append(File.generated(config, file.src_uri.replace(".ipynb", ".md"), content=page))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Links to notebooks and studies/README.md go to their pages, those to other files outside docs/ to the source."""
    markdown = re.sub(r"\]\(([\w/]+)\.ipynb\)", r"](\1.md)", markdown)
    here = "../" * page.file.src_uri.count("/")
    markdown = re.sub(r"\]\((?:\.\./)+studies/README\.md", f"]({here}{STUDIES}", markdown)
    return re.sub(r"\]\((?:\.\./)+((?!pictures)[\w./-]+)\)", rf"]({SOURCE}\1)", markdown)


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: text as it is, code and what it printed in blocks, tables and pictures as they are."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source if cell.cell_type == "markdown" else code_cell(cell) for cell in cells)


def code_cell(cell: Any) -> str:
    shown = [output_text(output) for output in cell.outputs]
    return "\n\n".join([f"```python\n{cell.source}\n```", *filter(None, shown)])


def output_text(output: Any) -> str:
    """
    >>> from nbformat.v4 import new_output
    >>> output_text(new_output("stream", text="done"))
    '```text\\ndone\\n```'
    """
    data = output.get("data", {"text/plain": output.get("text", "")})
    if "image/svg+xml" in data:
        return '<div class="figure">' + re.sub(r"\n\s*\n", "\n", data["image/svg+xml"]) + "</div>"
    if "text/html" in data:
        return '<div class="output">' + re.sub(r"\n\s*\n", "\n", data["text/html"]) + "</div>"
    text = data["text/plain"].rstrip()
    return f"```text\n{text}\n```" if text else ""
