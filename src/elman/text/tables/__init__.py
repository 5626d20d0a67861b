"""Any source as rows with named or numbered columns: files, folders, and what a program holds.

Columns are found by their exact name, then without regard to case, then by what people call such columns
(`SYNONYMS`). They may be asked for by number instead ("1" is the first). A table without a header and without
numbers has exactly the asked-for columns, in that order: ``text<TAB>label``.
"""

from elman.text.tables.bad_rows import BadRows
from elman.text.tables.cell_text import CellError, is_nothing, shorten
from elman.text.tables.column_names import find_columns
from elman.text.tables.column_synonyms import SYNONYMS
from elman.text.tables.in_memory import InMemory, StrPath, hold_rows
from elman.text.tables.open_table import TableFormat, open_table, table_format
from elman.text.tables.parallel_files import open_parallel
from elman.text.tables.table import Table, TableRow
from elman.text.tables.table_report import (
    TableReport,
    amend_report,
    collect_reports,
    log_report,
    publish_report,
)
from elman.text.tables.table_rows import TableRows, read_rows

__all__ = ["SYNONYMS", "BadRows", "CellError", "InMemory", "StrPath", "Table", "TableFormat", "TableReport"]
__all__ += ["TableRow", "TableRows", "amend_report", "collect_reports", "find_columns", "hold_rows"]
__all__ += ["is_nothing", "log_report", "open_parallel", "open_table", "publish_report", "read_rows"]
__all__ += ["shorten", "table_format"]
