"""One offline page in which a model runs, printed from the same formulas."""

from elman.live_page.page_file import build_page, write_page

__all__ = ["build_page", "write_page"]
