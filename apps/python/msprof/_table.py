"""Table: columns by name, read from `msprof query --format columns`.

lib/export/table/column_writer.hpp describes the format.
"""

import array
import json
import struct
from collections.abc import Mapping
from typing import IO, Any, Dict, Iterator, List, Optional, Tuple

from ._program import Incomplete

_MAGIC = b"msprof.columns/1\n"
_EMPTY, _INTEGERS, _INTEGERS_AND_NULLS, _REALS, _VALUES = range(5)
_KEPT_TEXTS = 1 << 16


class Table(Mapping):
    """The rows of a table or of a query, by column: table["task_duration"].

    A column is a numpy array: int64, float64, or object for texts. NULL is NaN in a column of reals,
    None in one of texts; a column of integers with NULL is a masked array. A column that is NULL in
    all rows is float64. Without numpy, a column is a list, and NULL is None.
    """

    def __init__(self, columns: Dict[str, Any], rows: int) -> None:
        self._columns = columns
        self.rows = rows

    def __getitem__(self, name: str) -> Any:
        return self._columns[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """Returns the number of columns; `rows` is that of the rows."""
        return len(self._columns)

    def __repr__(self) -> str:
        return "<msprof.Table of {} rows: {}>".format(self.rows, ", ".join(self._columns))

    def to_pandas(self) -> Any:
        """Returns a pandas.DataFrame. Columns of integers with NULL have the type Int64."""
        import numpy
        import pandas

        columns = {}
        for name, column in self._columns.items():
            if isinstance(column, numpy.ma.MaskedArray):
                column = pandas.arrays.IntegerArray(column.data, numpy.ma.getmaskarray(column))
            columns[name] = column
        return pandas.DataFrame(columns)


def read_table(stream: IO[bytes]) -> Table:
    """Reads a table from a stream. Raises Incomplete if it ends early."""
    if _read(stream, len(_MAGIC)) != _MAGIC:
        raise Incomplete()
    names = _distinct(_read_json(stream))
    numpy = _numpy()
    columns = [_ListColumn() if numpy is None else _ArrayColumn(numpy) for _ in names]  # type: List[Any]
    total = 0
    while True:
        rows, = struct.unpack("=I", _read(stream, 4))
        if rows == 0:
            break
        total += rows
        for column in columns:
            column.read(stream, _read(stream, 1)[0], rows)
    return Table({name: column.join() for name, column in zip(names, columns)}, total)


def _numpy() -> Optional[Any]:
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def _distinct(names: List[str]) -> List[str]:
    """Numbers repeated names from 2 on, as in JSON: "n", "n 2"."""
    times = {}  # type: Dict[str, int]
    found = []
    for name in names:
        times[name] = times.get(name, 0) + 1
        found.append(name if times[name] == 1 else "{} {}".format(name, times[name]))
    return found


def _read(stream: IO[bytes], size: int) -> bytes:
    data = stream.read(size)
    if len(data) != size:
        raise Incomplete()
    return data


def _read_json(stream: IO[bytes]) -> List[Any]:
    size, = struct.unpack("=I", _read(stream, 4))
    return json.loads(_read(stream, size).decode("utf-8"))


class _ListColumn:
    """A column without numpy."""

    def __init__(self) -> None:
        self._values = []  # type: List[Any]

    def read(self, stream: IO[bytes], kind: int, rows: int) -> None:
        if kind == _EMPTY:
            self._values += [None] * rows
        elif kind == _INTEGERS:
            self._values += self._read_numbers(stream, "q", rows)
        elif kind == _INTEGERS_AND_NULLS:
            nulls = _read(stream, rows)
            numbers = self._read_numbers(stream, "q", rows)
            self._values += [None if null else number for null, number in zip(nulls, numbers)]
        elif kind == _REALS:
            self._values += [None if number != number else number
                             for number in self._read_numbers(stream, "d", rows)]
        else:
            values = _read_json(stream)
            self._values += [values[index] for index in self._read_numbers(stream, "H", rows)]

    @staticmethod
    def _read_numbers(stream: IO[bytes], form: str, rows: int) -> Any:
        numbers = array.array(form)
        numbers.frombytes(_read(stream, rows * numbers.itemsize))
        return numbers

    def join(self) -> List[Any]:
        return self._values


class _ArrayColumn:
    """A column with numpy. Chunks are read into one array, which has room for more: no copy later."""

    # From the special to the general.
    _TYPES = ("int64", "float64", "object")
    _MANY_ROWS = 1 << 20

    def __init__(self, numpy: Any) -> None:
        self._numpy = numpy
        self._values = None  # type: Any
        self._rows = 0
        self._nulls = []  # type: List[Tuple[slice, Any]]  # rows, and which of them are NULL
        self._texts = {}  # type: Dict[str, str]

    def read(self, stream: IO[bytes], kind: int, rows: int) -> None:
        part = slice(self._rows, self._rows + rows)
        self._rows += rows
        if kind == _EMPTY:
            self._nulls.append((part, True))
            return
        if kind == _INTEGERS_AND_NULLS:
            self._nulls.append((part, self._fill(stream, self._numpy.empty(rows, bool))))
        form = "object" if kind == _VALUES else "float64" if kind == _REALS else "int64"
        self._make_room(form)
        values = self._values[part]
        if kind == _VALUES:
            objects = self._read_objects(stream)
            objects.take(self._fill(stream, self._numpy.empty(rows, "uint16")), out=values, mode="clip")
        elif values.dtype == form:
            self._fill(stream, values)
        else:
            values[:] = self._fill(stream, self._numpy.empty(rows, form))
            self._note_nan(part)

    @staticmethod
    def _fill(stream: IO[bytes], numbers: Any) -> Any:
        if stream.readinto(memoryview(numbers).cast("B")) != numbers.nbytes:  # type: ignore
            raise Incomplete()
        return numbers

    def _read_objects(self, stream: IO[bytes]) -> Any:
        # Chunks share equal texts.
        if len(self._texts) > _KEPT_TEXTS:
            self._texts.clear()
        share = self._texts.setdefault
        values = [share(value, value) if isinstance(value, str) else value for value in _read_json(stream)]
        objects = self._numpy.empty(len(values), object)
        objects[:] = values
        return objects

    def _make_room(self, form: str) -> None:
        """Makes an array for all rows so far that holds values of this type, too."""
        old = self._values
        if old is not None:
            form = max(form, str(old.dtype), key=self._TYPES.index)
            if old.dtype == form and len(old) >= self._rows:
                return
        # One chunk is often all. Memory that is not written takes no space.
        size = self._rows if old is None else max(self._MANY_ROWS, 2 * len(old), self._rows)
        self._values = self._numpy.empty(size, form)
        if old is not None:
            done = slice(0, min(len(old), self._rows))
            self._values[done] = old[done]
            if old.dtype != form:
                self._note_nan(done)

    def _note_nan(self, part: slice) -> None:
        """Notes which reals that became objects are NULL."""
        values = self._values[part]
        if values.dtype == object:
            self._nulls.append((part, values != values))

    def join(self) -> Any:
        numpy = self._numpy
        if self._values is None:
            return numpy.full(self._rows, numpy.nan)
        values = self._values[:self._rows]
        if values.dtype == "int64" and self._nulls:
            mask = numpy.zeros(self._rows, bool)
            for part, nulls in self._nulls:
                mask[part] = nulls
            return numpy.ma.MaskedArray(values, mask)
        for part, nulls in self._nulls:
            values[part][nulls] = None if values.dtype == object else numpy.nan
        return values
