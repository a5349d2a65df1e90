"""MkDocs hooks: pages from the notebook and from studies/README.md, and links to files outside docs/."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from nbformat import NotebookNode

ROOT = Path(__file__).parents[2]
REPOSITORY_URL = "https://github.com/isogloss/isogloss/blob/main/"
STUDIES_PAGE = "papers.md"  # generated from studies/README.md


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages for the notebooks and for studies/README.md."""
    studies = (ROOT / "studies" / "README.md").read_text(encoding="utf-8").replace("](../docs/", "](")
    files.append(File.generated(config, STUDIES_PAGE, content=studies))
    for file in [file for file in files if file.src_uri.endswith(".ipynb")]:
        files.remove(file)
        page = notebook_page(Path(config.docs_dir) / file.src_uri)
        files.append(File.generated(config, file.src_uri.replace(".ipynb", ".md"), content=page))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Links to notebooks and studies/README.md go to their pages, links to other files outside docs/ to GitHub."""
    markdown = re.sub(r"\]\(([\w/]+)\.ipynb\)", r"](\1.md)", markdown)
    to_root = "../" * page.file.src_uri.count("/")
    markdown = re.sub(r"\]\((?:\.\./)+studies/README\.md", f"]({to_root}{STUDIES_PAGE}", markdown)
    return re.sub(r"\]\((?:\.\./)+((?!pictures)[\w./-]+)\)", rf"]({REPOSITORY_URL}\1)", markdown)


def notebook_page(path: Path) -> str:
    """A notebook as Markdown: text cells unchanged, code and printed output in blocks, tables and figures as HTML."""
    cells = nbformat.read(path, as_version=4).cells
    return "\n\n".join(cell.source if cell.cell_type == "markdown" else code_cell(cell) for cell in cells)


def code_cell(cell: NotebookNode) -> str:
    outputs = [output_text(output) for output in cell.outputs]
    return "\n\n".join([f"```python\n{cell.source}\n```", *filter(None, outputs)])


def output_text(output: NotebookNode) -> str:
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
