"""Runs applications with profiling."""

import os
from typing import Any, Dict, List, Optional, Sequence

from ._capture import Capture, Path, open_capture
from ._program import INTERRUPTED, OK, PARTIAL_DATA, USAGE, Error, Process, document_of


class Collection:
    """A run of `msprof collect`.

    In a with statement, the block runs while the application does, if it was started with
    background=True. The end of the block waits for the application; an exception stops it.
    """

    def __init__(self, process: Process) -> None:
        self._process = process
        self._report = None  # type: Optional[Dict[str, Any]]
        self._error = None  # type: Optional[Error]
        self._is_stopped = False

    def __enter__(self) -> "Collection":
        return self

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        if type is None:
            self.wait()
            return
        self.stop()
        try:
            self.wait()
        except Error:  # the exception of the block is the one to report
            pass

    def stop(self) -> None:
        """Ends the application as Ctrl-C does. Its recording is kept."""
        self._is_stopped = True
        self._process.interrupt()

    def wait(self) -> Dict[str, Any]:
        """Waits for the end. Returns the document of `msprof collect --json`."""
        if self._error is not None:
            raise self._error
        if self._report is None:
            accepted = (OK, PARTIAL_DATA) + ((INTERRUPTED,) if self._is_stopped else ())
            try:
                self._report = document_of(self._process, accepted)
            except Error as error:
                self._error = error
                raise
        return self._report

    @property
    def captures(self) -> List[str]:
        """The folders of the captures, after the end, without those of warm-up runs."""
        return _folders(self.wait())

    @property
    def capture(self) -> Capture:
        """The capture, opened after the end. Raises Error if the run made none, or several."""
        folders = self.captures
        if len(folders) != 1:
            raise Error("the run made {} captures; `captures` lists them".format(len(folders)), USAGE)
        return open_capture(folders[0])


def _folders(document: Dict[str, Any]) -> List[str]:
    """Returns the captures of a document: of one run, or of the runs or boards in it."""
    found = [each["path"] for each in document.get("captures", []) if each["has_data"]]
    for run in document.get("runs", []) + document.get("boards", []):
        if not run.get("repeat", {}).get("warm_up", False):
            found += _folders(run)
    return found


def collect(command: Sequence[Path], options: Sequence[str] = (), output: Path = ".",
            background: bool = False) -> Collection:
    """Runs an application with profiling, as `msprof collect`, and returns when it has ended.

    command: the executable and its arguments.
    options: options of `msprof collect`, such as ["--interval", "10"] or ["--config", "board.ini"].
    output: folder for the capture.
    background: returns at once; Collection.wait() waits.

    The application's output appears on sys.stderr. Raises Error if it failed (exit code 7).
    """
    if isinstance(command, (str, bytes)) or not command:
        raise Error("command: expected a list, the executable and its arguments, got {!r}".format(command), USAGE)
    words = [os.fspath(word) for word in command]
    arguments = ["collect", "-q", "--json", "--output", os.path.abspath(os.fspath(output))]
    collection = Collection(Process(arguments + list(options) + ["-m", words[0], "--"] + words[1:],
                                    keeps_input=not background, shows_messages=True))
    if not background:
        collection.wait()
    return collection
