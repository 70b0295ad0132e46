"""Reads profiles of Ascend and SVP applications with the program msprof.

    import msprof

    capture = msprof.open("JOBXXX")          # or PROF_XXX; imports it if needed
    capture.verdict                          # "complete", "without" or "partial"
    capture.table("op_summary")              # columns by name
    capture.sql("SELECT count(*) AS n FROM v_tasks")["n"][0]

Columns are numpy arrays, or lists if numpy is not installed. Every function runs the program msprof
of the package, or the one that the environment variable MSPROF_PROGRAM names. An error is an Error
with the program's message, error id and exit code.
"""

from ._capture import Capture, compare
from ._capture import list_captures as list
from ._capture import open_capture as open
from ._collect import Collection, collect
from ._program import Error, program
from ._table import Table

__all__ = ["Capture", "Collection", "Error", "Table", "collect", "compare", "list", "open", "program"]
