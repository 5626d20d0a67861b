"""What the site has beside docs/: pages of the repository's root, the files they link to, the API reference."""

import logging
import sys
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from mathml import set_formulas  # noqa: E402
from notebook_page import read_notebook  # noqa: E402

ROOT_PAGES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md"}
NOTEBOOKS = sorted(ROOT.glob("course/*.ipynb"))

# The reference lists the names by importing the package, so griffe need not understand a computed ``__all__``.
logging.getLogger("mkdocs.plugins.griffe").addFilter(
    lambda record: "Unsupported item" not in record.getMessage()
)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """The notebooks are pages of the course."""
    course = next(section["Course"] for section in config.nav or () if "Course" in section)
    course += [f"course/{path.stem}.md" for path in NOTEBOOKS]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what does not lie in docs/."""
    about = (ROOT / "course/README.md").read_text()
    files.append(File.generated(config, "course/README.md", content=about))
    for path in NOTEBOOKS:
        files.append(File.generated(config, f"course/{path.stem}.md", content=read_notebook(path)))
    for source, page in ROOT_PAGES.items():
        text = (ROOT / source).read_text().replace("](docs/", "](")
        files.append(File.generated(config, page, content=text))
    for path in (*ROOT.glob("recipes/*.toml"), *ROOT.glob("bench/*.py")):
        files.append(File.generated(config, str(path.relative_to(ROOT)), abs_src_path=str(path)))
    for page in _api_pages(config):
        files.append(File.generated(config, page, content=_reference(Path(page).stem)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Formulas are set; beside its pages the site has the folders that lie beside docs/ in the repository."""
    here = page.file.src_uri.startswith("course/")
    linked = markdown.replace("](../docs/", "](../") if here else markdown.replace("](../", "](")
    return set_formulas(linked.replace(".ipynb)", ".md)"))


def _api_pages(config: MkDocsConfig) -> list[str]:
    assert config.nav is not None
    return next(section["API"] for section in config.nav if "API" in section)


def _reference(package: str) -> str:
    """The package's docstring, then every name of its ``__all__`` where it is defined."""
    module = import_module(package)
    names = [name for name in module.__all__ if name != "__version__"]
    homes = [_home(module, name) for name in sorted(names, key=str.lower)]
    return "\n\n".join([f"# {package}", str(module.__doc__), *(f"::: {home}" for home in homes)])


def _home(module: ModuleType, name: str) -> str:
    thing = getattr(module, name)
    if isinstance(thing, type | FunctionType):
        return f"{thing.__module__}.{thing.__qualname__}"
    return f"{module.__name__}.{name}"
