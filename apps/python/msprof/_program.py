"""Runs the program msprof."""

import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import threading
from typing import IO, Any, Callable, Dict, List, Optional, Sequence, TypeVar

Result = TypeVar("Result")

OK, INTERNAL_ERROR, USAGE, PARTIAL_DATA, NOTHING_TO_DO, REGRESSION, INTERRUPTED = 0, 1, 2, 3, 4, 8, 130

_CANNOT_START = 127  # as shells
_ERROR = re.compile(r"error: (.*?)(?: \[([a-z0-9_]+)\])?$")
_KEPT_MESSAGES = 100
_SET_PIPE_SIZE, _PIPE_BYTES = 1031, 1 << 20  # Linux; fcntl has the name since Python 3.10


class Error(Exception):
    """A command of msprof failed.

    exit_code: the exit code of the program, as in README.md; 2 for a wrong argument.
    id: the error id, such as "unreadable_captures"; None if the error has none.
    """

    def __init__(self, message: str, exit_code: int, id: Optional[str] = None) -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.id = id


class Incomplete(Exception):
    """The program ended before its output did."""


def program() -> str:
    """Returns the path of the program msprof."""
    path = os.environ.get("MSPROF_PROGRAM") or os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "native", "tools", "profiler", "bin", "msprof")
    if not os.path.isfile(path):
        raise Error("{} does not exist: install the wheel of msprof, or set MSPROF_PROGRAM to the path of the program"
                    .format(path), _CANNOT_START)
    return path


class Process:
    """A running msprof; its messages are read by a thread.

    text: is written to its standard input.
    keeps_input: it uses that of this process, and gets a terminal's Ctrl-C itself.
    shows_messages: passes its messages, and the output of an application, on to sys.stderr.
    """

    def __init__(self, arguments: Sequence[str], text: str = "", keeps_input: bool = False,
                 shows_messages: bool = False) -> None:
        self._keeps_input = keeps_input
        self._shows_messages = shows_messages
        self._messages = []  # type: List[str]
        stdin = None if keeps_input else subprocess.PIPE if text else subprocess.DEVNULL
        path = program()
        try:
            self._process = subprocess.Popen([path] + [os.fspath(word) for word in arguments], stdin=stdin,
                                             stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                             start_new_session=not keeps_input)
        except (OSError, ValueError) as error:
            raise Error("cannot start {}: {}".format(path, error), _CANNOT_START)
        try:
            fcntl.fcntl(self._process.stdout, _SET_PIPE_SIZE, _PIPE_BYTES)  # type: ignore
        except OSError:  # only slower
            pass
        self._reader = threading.Thread(target=self._read_messages, daemon=True)
        self._reader.start()
        if text:
            self._write(text)

    def _write(self, text: str) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(text.encode("utf-8", "surrogateescape"))
            stdin.close()
        except BrokenPipeError:  # it failed before it read the text
            pass

    def _read_messages(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            text = line.decode("utf-8", "replace")
            if self._shows_messages:
                try:
                    sys.stderr.write(text)
                except (AttributeError, OSError, ValueError):  # no usable stderr: go on reading
                    self._shows_messages = False
            self._messages.append(text.rstrip("\n"))
            del self._messages[:-_KEPT_MESSAGES]

    def interrupt(self) -> None:
        """Does what Ctrl-C does in a terminal."""
        self._process.send_signal(signal.SIGINT)

    def finish(self, read: Callable[[IO[bytes]], Result]) -> Optional[Result]:
        """Returns what `read` makes of the output, None if it is incomplete, and waits for the end."""
        result = None
        assert self._process.stdout is not None
        try:
            with self._process.stdout as stream:
                result = read(stream)
        except Incomplete:
            pass
        except KeyboardInterrupt:
            if not self._keeps_input:
                self.interrupt()
            self._end()
            raise
        except BaseException:
            self._process.kill()
            self._end()
            raise
        self._end()
        return result

    def _end(self) -> None:
        self._process.wait()
        self._reader.join()
        assert self._process.stderr is not None
        self._process.stderr.close()

    @property
    def exit_code(self) -> int:
        code = self._process.returncode
        return 128 - code if code < 0 else code  # a signal, as shells number it

    def error(self) -> Error:
        """Returns the error that the messages report."""
        for message in reversed(self._messages):
            found = _ERROR.match(message)
            if found:
                return Error(found.group(1), self.exit_code, found.group(2))
        last = self._messages[-1] if self._messages else "no message"
        return Error("msprof ended with exit code {}: {}".format(self.exit_code, last), self.exit_code or INTERNAL_ERROR)


def read_document(stream: IO[bytes]) -> Dict[str, Any]:
    """Reads the output of a verb with --json."""
    text = stream.read()
    try:
        return json.loads(text.decode("utf-8"))
    except ValueError:
        raise Incomplete()


def document_of(process: Process, accepted: Sequence[int] = (OK, PARTIAL_DATA)) -> Dict[str, Any]:
    """Returns the document of a process; raises Error if it reports one."""
    document = process.finish(read_document)
    if document is None or (process.exit_code not in accepted and "error" not in document):
        raise process.error()
    if "error" in document:
        raise Error(document["error"], process.exit_code, document.get("error_id"))
    return document


def run(verb: str, *arguments: str) -> Dict[str, Any]:
    """Runs a verb with --json and returns its document."""
    return document_of(Process([verb, "-q", "--json"] + list(arguments)))
