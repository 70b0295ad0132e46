"""Uses the module msprof on captures of the demo: profile_module.py CASE DEMO FOLDER."""
import ast
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

CASE, DEMO, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
if CASE == "lists":
    sys.modules["numpy"] = None  # importing it fails

import msprof  # noqa: E402

NULLS = "SELECT column1 AS n, column2 AS text, column3 AS part, NULL AS none FROM (VALUES {})"


def record(name, model="face_mask", options=()):
    run = msprof.collect(["main", "--model", model, "--images", "5"], output=FOLDER / name,
                         options=["--project", DEMO, *options])
    return run.capture


def fails(call, exit_code, id=None, text=""):
    try:
        call()
    except msprof.Error as error:
        assert (error.exit_code, error.id) == (exit_code, id), (error.exit_code, error.id, error)
        assert text in str(error), error
        return
    raise AssertionError("no error")


def check_capture():
    import numpy

    recorded = record("runs")
    for path in (recorded.path, FOLDER / "runs", os.path.join(recorded.path, "sqlite", "msprof.db"),
                 os.path.relpath(recorded.path)):
        capture = msprof.open(path)
        assert capture.verdict == "complete", capture
        assert capture.sql("SELECT count(*) AS n FROM v_tasks")["n"][0] == 185
    tables = capture.tables
    assert tables[:3] == ["op_summary", "op_statistic", "acl_statistic"], tables
    assert "v_tasks" in tables
    for name in tables:
        assert capture.table(name).rows >= 0
    layers = capture.table("op_summary")
    assert layers.rows == 37 and len(layers) == len(list(layers)), layers
    assert isinstance(layers["time"], numpy.ndarray) and layers["time"].dtype == "float64"
    assert layers["step"].dtype == "int64" and layers["layer_name"].dtype == object
    # The same numbers as SQL.
    rows = capture.sql("SELECT * FROM op_summary")
    assert list(rows) == list(layers)
    for name in rows:
        assert rows[name].dtype == layers[name].dtype, name
        numpy.testing.assert_array_equal(rows[name], layers[name])
    tasks = capture.table("v_tasks")
    assert tasks.rows == 185
    assert tasks["start_ns"].dtype == "int64"


def check_stores():
    capture = record("runs")
    copy = FOLDER / "store"
    msprof.open(capture.path, output=copy)
    assert (copy / "sqlite" / "msprof.db").is_file()
    assert msprof.open(capture.path, output=copy).table("v_tasks").rows == 185


def check_types():
    import numpy

    capture = record("runs")
    big = 2 ** 62 + 1
    rows = capture.sql(NULLS.format("({}, 'a', 0.5), (NULL, NULL, NULL), (3, 'b', 1)".format(big)))
    n = rows["n"]
    assert isinstance(n, numpy.ma.MaskedArray) and n.dtype == "int64", n
    assert n[0] == big and n[1] is numpy.ma.masked and n[2] == 3
    assert list(rows["text"]) == ["a", None, "b"]
    assert rows["part"][0] == 0.5 and numpy.isnan(rows["part"][1]) and rows["part"][2] == 1.0
    assert rows["none"].dtype == "float64" and numpy.isnan(rows["none"]).all()
    mixed = capture.sql("SELECT column1 AS v FROM (VALUES ('é\"\n'), (1), (2.5), (NULL), (x'00ff'), (-9e999))")["v"]
    assert list(mixed) == ['é"\n', 1, 2.5, None, "00FF", -numpy.inf], mixed
    assert list(capture.sql("SELECT 1 AS n, 2 AS n, 3 AS n")) == ["n", "n 2", "n 3"]
    empty = capture.sql("SELECT * FROM v_tasks WHERE 0")
    assert empty.rows == 0 and len(empty["task_id"]) == 0
    # A query may begin with a comment or a dash, and end with anything.
    assert capture.sql("-- n\nSELECT 1 AS n;")["n"][0] == 1
    # Chunks of different kinds: only NULL, integers, reals, texts, each for many rows.
    count = "WITH RECURSIVE r(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM r WHERE i < 149999) SELECT "
    chunks = capture.sql(count + "i, CASE WHEN i >= 40000 THEN i END AS late, CASE WHEN i < 100000 THEN i ELSE i + 0.5"
                         " END AS part, CASE WHEN i < 40000 THEN NULL WHEN i < 80000 THEN i WHEN i < 120000 THEN i + 0.5"
                         " ELSE 't' || i END AS mixed FROM r")
    i = numpy.arange(150000)
    assert chunks.rows == 150000 and (chunks["i"] == i).all()
    assert chunks["late"].dtype == "int64" and (chunks["late"].mask == (i < 40000)).all()
    assert (chunks["late"][40000:] == i[40000:]).all()
    assert (chunks["part"] == numpy.where(i < 100000, i, i + 0.5)).all()
    mixed = chunks["mixed"]
    assert mixed[0] is None and mixed[39999] is None and mixed[40000] == 40000 and mixed[79999] == 79999
    assert mixed[80000] == 80000.5 and mixed[120000] == "t120000" and mixed[149999] == "t149999"


def check_lists():
    capture = record("runs")
    assert capture.sql("SELECT count(*) AS n FROM v_tasks")["n"] == [185]
    rows = capture.sql(NULLS.format("(1, 'a', 0.5), (NULL, NULL, NULL), (3, 'b', 1)"))
    assert rows["n"] == [1, None, 3] and rows["text"] == ["a", None, "b"], dict(rows)
    assert rows["part"] == [0.5, None, 1.0] and rows["none"] == [None] * 3
    layers = capture.table("op_summary")
    assert len(layers["time"]) == 37 and isinstance(layers["time"][0], float)
    try:
        layers.to_pandas()
    except ImportError:
        return
    raise AssertionError("pandas without numpy")


def check_pandas():
    import pandas

    capture = record("runs")
    frame = capture.table("op_summary").to_pandas()
    assert isinstance(frame, pandas.DataFrame) and len(frame) == 37
    assert frame["time"].sum() > 0
    rows = capture.sql(NULLS.format("(1, 'a', 0.5), (NULL, NULL, NULL)")).to_pandas()
    assert str(rows["n"].dtype) == "Int64" and rows["n"][0] == 1 and rows["n"].isna()[1]


def check_answers():
    before = record("before", "mish")
    after = record("after", "leaky_relu")
    found = before.advise()
    assert any(each["severity"] == "problem" and each["evidence"] for each in found), found
    change = msprof.compare(before, after)
    assert change["schema"].startswith("msprof.compare/"), change
    assert msprof.compare(FOLDER / "before", [after.path])["schema"] == change["schema"]
    slower = msprof.compare(after, before, options=["--fail-above", "1%"])
    assert slower["exit_code"] == 8, slower["exit_code"]
    listed = msprof.list(FOLDER)
    assert {each["folder"] for each in listed} == {before.path, after.path}, listed
    assert msprof.open(listed[0]["folder"]).verdict == "complete"
    empty = FOLDER / "empty"
    empty.mkdir()
    assert msprof.list(empty) == []
    fails(lambda: msprof.open(FOLDER), 4, text="is not a capture")


def check_errors():
    capture = record("runs")
    fails(lambda: msprof.open(FOLDER / "nowhere"), 4, text="no such folder")
    fails(lambda: msprof.list(FOLDER / "nowhere"), 4)
    fails(lambda: capture.sql("SELECT nope FROM v_tasks"), 2, text="no such column: nope")
    fails(lambda: capture.sql("DROP TABLE task"), 2)
    fails(lambda: capture.sql(""), 2)
    fails(lambda: capture.sql("SELECT count(*) FROM v_tasks a, v_tasks b, v_tasks c, v_tasks d", timeout=0.2), 2,
          text="--timeout")
    fails(lambda: capture.table("op_sumary"), 2, text="op_sumary")
    fails(lambda: msprof.compare(capture, FOLDER / "nowhere"), 4)
    fails(lambda: msprof.collect("main"), 2, text="expected a list")
    fails(lambda: msprof.collect(["nope"], output=FOLDER, options=["--project", DEMO]), 4, text="nope")
    fails(lambda: msprof.collect(["main"], output=FOLDER, options=["--nope"]), 2, text="--nope")
    # An error with an id, in a document.
    fails(lambda: msprof.collect(["main"], output=FOLDER, options=["--project", DEMO, "--host", "nobody@127.0.0.1:9", "--tty"]), 2,
          "tty_with_json")
    fails(lambda: msprof.collect(["main", "--nope"], output=FOLDER, options=["--project", DEMO]), 7)
    # A program that ends in the middle of its output, that cannot be started, that is missing.
    real = msprof.program()
    cut = FOLDER / "cut"
    cut.write_text("#!/bin/sh\n'{}' \"$@\" | head -c 900\n".format(real))
    os.environ["MSPROF_PROGRAM"] = str(cut)
    fails(lambda: capture.table("v_tasks"), 127, text="cannot start")
    cut.chmod(0o755)
    fails(lambda: capture.table("v_tasks"), 1, text="ended with exit code 0")
    fails(lambda: capture.advise(), 1, text="ended with exit code 0")
    os.environ["MSPROF_PROGRAM"] = str(FOLDER / "missing")
    fails(lambda: capture.table("v_tasks"), 127, text="does not exist")
    os.environ["MSPROF_PROGRAM"] = real
    # Partial data is no error.
    data = sorted(pathlib.Path(capture.path).glob("data/*aicore*"), key=lambda path: -path.stat().st_size)[0]
    data.write_bytes(data.read_bytes()[:-3])
    partial = msprof.open(capture.path)
    assert partial.verdict == "partial", partial
    assert partial.table("v_tasks").rows > 0 and partial.sql("SELECT 1 AS n")["n"][0] == 1
    assert isinstance(partial.advise(), list)


def check_collect():
    endless = ["main", "--images", "1000000"]
    options = ["--project", DEMO]
    begin = time.monotonic()
    with msprof.collect(["main", "--images", "5"], output=FOLDER / "block", options=options, background=True) as run:
        beside = threading.active_count()
    assert beside >= 1 and run.capture.verdict == "complete"
    assert len(run.captures) == 1 and run.captures[0].startswith(str(FOLDER / "block"))
    # stop() keeps the recording.
    run = msprof.collect(endless, output=FOLDER / "stopped", options=options, background=True)
    time.sleep(1)
    run.stop()
    assert run.wait()["exit_code"] in (0, 130), run.wait()
    # An exception in the block ends the application, and is the one that is raised.
    try:
        with msprof.collect(endless, output=FOLDER / "failed", options=options, background=True):
            time.sleep(0.5)
            raise KeyError("mine")
    except KeyError:
        pass
    else:
        raise AssertionError("no exception")
    assert time.monotonic() - begin < 600
    twice = msprof.collect(["main", "--images", "1"], output=FOLDER / "twice", options=options + ["--repeat", "2"])
    assert len(twice.captures) == 2, twice.captures
    fails(lambda: twice.capture, 2, text="2 captures")
    fails(lambda: msprof.open(os.path.dirname(twice.captures[0])), 2, text="has 2 captures")


def check_manual():
    """Runs the samples of docs/python.md in order; the last one up to its plot if matplotlib is missing."""
    record("runs")
    for path in (FOLDER / "runs").glob("JOB*"):
        path.rename(FOLDER / "JOBXXX")
    for name in ("main", "models", "acl.json"):
        (FOLDER / name).symlink_to(os.path.join(DEMO, name))
    os.chdir(FOLDER)
    page = (pathlib.Path(msprof.__file__).parents[3] / "docs/python.md").read_text()
    samples = re.findall(r"^```python[^\n]*\n(.*?)^```", page, re.M | re.S)
    assert len(samples) >= 5
    sys.argv = ["slowest.py", str(FOLDER)]
    names = {"__name__": "sample"}  # samples after the first use its import
    for sample in samples:
        try:
            exec(compile(sample, "docs/python.md", "exec"), names)
        except ModuleNotFoundError as error:
            assert error.name == "matplotlib", error
            print("matplotlib is missing")


def check_syntax():
    folder = pathlib.Path(msprof.__file__).parent
    files = sorted(folder.glob("*.py"))
    assert len(files) >= 5
    lines = 0
    for path in files:
        text = path.read_text()
        lines += text.count("\n")
        ast.parse(text, str(path), feature_version=(3, 7))
    assert lines <= 800, lines
    assert (folder / "py.typed").exists()
    for name in msprof.__all__:
        assert getattr(msprof, name).__doc__, name
    command = subprocess.run([sys.executable, "-m", "msprof", "--version"], stdout=subprocess.PIPE, check=True)
    assert command.stdout.startswith(b"msprof "), command.stdout


globals()["check_" + CASE]()
