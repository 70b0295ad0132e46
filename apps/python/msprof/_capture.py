"""Captures: their tables, SQL, advice and comparisons."""

import os
from typing import Any, Dict, List, Optional, Sequence, Union

from ._program import NOTHING_TO_DO, OK, PARTIAL_DATA, REGRESSION, USAGE, Error, Process, document_of, run
from ._table import Table, read_table

Path = Union[str, "os.PathLike[str]"]


class Capture:
    """One capture, or one cluster.db; made by open() and collect().

    path: its folder, or the file of a cluster.
    verdict: "complete"; "without": some data is missing from the profile; "partial": data is lost
    or damaged, and the rest has been read.
    info: what `msprof query --json` reports: chip, time, devices, models, products, …
    """

    def __init__(self, path: str, output: Optional[str], info: Dict[str, Any]) -> None:
        self.path = path
        self.info = info
        self.verdict = info["verdict"]  # type: str
        self._choice = ["-dir", path] + ([] if output is None else ["--output", output])
        self._tables = []  # type: List[str]

    def __repr__(self) -> str:
        return "<msprof.Capture {}: {}>".format(self.path, self.verdict)

    @property
    def tables(self) -> List[str]:
        """The names that table() and SQL accept: summary tables with data, then the views."""
        if not self._tables:
            summaries = self.info.get("products", {}).get("summaries", {})
            views = run("query", "--schema", *self._choice[:2])["views"]
            self._tables = summaries.get("with_data", []) + [view["name"] for view in views]
        return self._tables[:]

    def table(self, name: str) -> Table:
        """Returns all rows of a summary table, a view or a table of the store."""
        return self._query(["--table={}".format(name)], "")

    def sql(self, query: str, timeout: Optional[float] = None) -> Table:
        """Returns the rows of a SELECT; `msprof query --schema` lists views and columns.

        timeout: limit in seconds, 0 for none; the program's is 60.
        """
        limit = [] if timeout is None else ["--timeout={}".format(timeout)]
        # An empty text would be no query.
        return self._query(["-"] + limit, query or " ")

    def _query(self, arguments: List[str], text: str) -> Table:
        process = Process(["query", "-q", "--format", "columns"] + arguments + self._choice, text)
        table = process.finish(read_table)
        if table is None or process.exit_code not in (OK, PARTIAL_DATA):
            raise process.error()
        return table

    def advise(self) -> List[Dict[str, Any]]:
        """Returns the findings of `msprof advise`, the most severe first, as in its JSON document."""
        return run("advise", "--lang", "en", *self._choice)["captures"][0]["findings"]


def open_capture(path: Path, output: Optional[Path] = None) -> Capture:
    """Opens a capture, and imports it if it has no current store.

    path: a capture (JOB… or PROF_…), its store, a folder with one capture, or a cluster.db.
    output: folder for the store, for a capture that is read-only.
    """
    full = os.path.abspath(os.fspath(path))
    folder, name = os.path.split(full)
    if name == "msprof.db" and os.path.basename(folder) == "sqlite":
        full = os.path.dirname(folder)
    store = None if output is None else os.path.abspath(os.fspath(output))
    captures = run("query", "-dir", full, *([] if store is None else ["--output", store]))["captures"]
    if len(captures) != 1:
        raise Error("{} has {} captures: open one of them; msprof.list() finds them".format(full, len(captures)), USAGE)
    # Clusters have no key "folder".
    return Capture(captures[0].get("folder", full), store, captures[0])


def list_captures(folder: Path = ".") -> List[Dict[str, Any]]:
    """Returns the captures in a folder and its subfolders, newest first, as `msprof list --json`.

    Imports nothing: open(each["folder"]) does.
    """
    process = Process(["list", "-q", "--json", os.path.abspath(os.fspath(folder))])
    return document_of(process, (OK, PARTIAL_DATA, NOTHING_TO_DO))["captures"]


def compare(base: Union[Path, Capture, Sequence[Union[Path, Capture]]],
            new: Union[Path, Capture, Sequence[Union[Path, Capture]]],
            options: Sequence[str] = ()) -> Dict[str, Any]:
    """Returns what changed between two runs: the document of `msprof compare --json`.

    base, new: a capture, a folder of runs, or several captures.
    options: more options of `msprof compare`. With --fail-above, `exit_code` of the document is 8
    if `new` is slower.
    """
    process = Process(["compare", "-q", "--json"] + list(options) + [_runs(base), _runs(new)])
    return document_of(process, (OK, PARTIAL_DATA, REGRESSION))


def _runs(runs: Any) -> str:
    if isinstance(runs, Capture):
        return runs.path
    if isinstance(runs, (str, os.PathLike)):
        return os.path.abspath(os.fspath(runs))
    return ",".join(_runs(one) for one in runs)
