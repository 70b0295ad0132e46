#!/usr/bin/env python3
"""Runs the tests of a build folder and counts their cases. Called by scripts/test.

A test program runs in one process, or in several that run some of its cases each (SLICE of
msprof_add_test). Each case is reported by name. If a program crashes, the running case has failed,
and the remaining cases run in a new process. The last line is "N passed, N failed, N skipped".
"""

import argparse
import collections
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

CASE_LIMIT_S = 600  # a case or command that takes longer has failed


class Test:
    """A line of tests.txt: a program with cases, or a command that is one test."""

    def __init__(self, line):
        kind, self.module, self.name, cost, size, *self.command = line.rstrip("\n").split("\t")
        self.has_cases = kind == "cases"
        self.cost = int(cost or 1)
        self.slice = int(size or 0)  # cases per process; 0: all
        self.cases = [self.name]

    def read_cases(self):
        if self.has_cases:
            listed = subprocess.run(self.command + ["--list"], stdout=subprocess.PIPE, check=True, text=True,
                                    env=dict(os.environ, ASAN_OPTIONS="detect_leaks=0"))
            self.cases = [f"{self.name}: {case}" for case in listed.stdout.splitlines()]


Job = collections.namedtuple("Job", "test numbers")


class Runner:
    def __init__(self, jobs, scratch, verbose):
        self.queue = collections.deque(jobs)
        self.scratch = scratch
        self.verbose = verbose
        self.lock = threading.Lock()
        self.results = {}  # by test and case number: (state, seconds, reason)
        self.running = set()
        self.stopped = False

    def report(self, test, number, state, seconds, reason, output):
        with self.lock:
            self.results[test, number] = (state, seconds, reason)
            if state != "passed" or self.verbose:
                print(f"{state:8}{seconds:7.1f} s  {test.cases[number]}" + (f": {reason}" if reason else ""), flush=True)
            if output:
                sys.stdout.write(output.decode(errors="replace").rstrip() + "\n")
                sys.stdout.flush()

    def work(self):
        while not self.stopped:
            with self.lock:
                if not self.queue:
                    return
                job = self.queue.popleft()
            while job and not self.stopped:
                job = self.run(job)

    def run(self, job):
        """Runs the cases of a job in one process; returns those that have not run."""
        test, numbers = job
        with tempfile.TemporaryDirectory(dir=self.scratch) as folder:
            report, output = os.path.join(folder, "report"), os.path.join(folder, "output")
            # A caller may ignore signals (nohup); programs would inherit that.
            command = ["env", "--default-signal=HUP,INT,QUIT"] + test.command
            if test.has_cases:
                command += ["--report", report, "--cases", ",".join(map(str, numbers))]
            open(report, "w").close()
            with open(output, "wb") as out:
                process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                           start_new_session=True)
            with self.lock:
                self.running.add(process)
            over_limit, ends = self.follow(process, test, numbers, report)
            with self.lock:
                self.running.discard(process)
            with open(output, "rb") as out:
                text = out.read()
            return self.judge(test, numbers, process.returncode, over_limit, ends, text)

    def follow(self, process, test, numbers, report):
        """Waits for the process and reads its report: the ends of cases, in order."""
        ends, running, since, at = [], None, time.monotonic(), 0
        while True:
            try:
                process.wait(0.05 if test.has_cases else 0.5)
            except subprocess.TimeoutExpired:
                pass
            with open(report) as lines:
                lines.seek(at)
                added = lines.read()
            added = added[:added.rfind("\n") + 1]
            at += len(added.encode())
            for line in added.splitlines():
                word, number, *reason = line.split(" ", 2)
                now = time.monotonic()
                if word == "run":
                    running, since = int(number), now
                else:
                    ends.append((int(number), word, now - since, " ".join(reason)))
                    running, since = None, now
            seconds = time.monotonic() - since
            if process.returncode is not None:
                if not test.has_cases or running is not None:
                    ends.append((running or 0, "ended", seconds, ""))
                return (None, ends)
            if seconds > CASE_LIMIT_S:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                return (running if test.has_cases else 0, ends)

    def judge(self, test, numbers, code, over_limit, ends, text):
        end = f"ended by signal {-code}" if code < 0 else f"exit code {code}"
        if not test.has_cases:
            if over_limit is not None:
                self.report(test, 0, "failed", CASE_LIMIT_S, f"no end after {CASE_LIMIT_S} s", text)
            else:
                self.report(test, 0, "passed" if code == 0 else "failed", ends[0][2], "" if code == 0 else end,
                            b"" if code == 0 else text)
            return None
        left = list(numbers)
        has_failed = False
        for number, word, seconds, reason in ends:
            left.remove(number)
            if word == "ended":
                word, reason = "failed", end
            has_failed |= word == "failed"
            self.report(test, number, word, seconds, reason, b"")
        if over_limit is not None:
            left.remove(over_limit)
            has_failed = True
            self.report(test, over_limit, "failed", CASE_LIMIT_S, f"no end after {CASE_LIMIT_S} s", b"")
        elif code != 0 and not has_failed:
            # Between cases: a leak, or a crash while the program starts or exits.
            has_failed = True
            for number in left or numbers[-1:]:
                self.report(test, number, "failed", 0, f"{end} outside of its cases", b"")
            left = []
        elif left and not has_failed:
            has_failed = True
            for number in left:
                self.report(test, number, "failed", 0, "did not run", b"")
            left = []
        if has_failed and text:
            with self.lock:
                sys.stdout.write(text.decode(errors="replace").rstrip() + "\n")
                sys.stdout.flush()
        return Job(test, left) if left else None

    def stop(self):
        self.stopped = True
        with self.lock:
            for process in self.running:
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of a build folder.", prog="scripts/test")
    parser.add_argument("build")
    parser.add_argument("module", nargs="?", help="a folder of tests/")
    parser.add_argument("pattern", nargs="*", help="names of cases, with * for any text")
    parser.add_argument("-j", type=int, default=2 * (os.cpu_count() or 1) + 1, dest="jobs",
                        help="processes at once (default: twice the cores and one; board tests mostly wait)")
    parser.add_argument("-l", "--list", action="store_true", help="list the cases and run nothing")
    parser.add_argument("-v", "--verbose", action="store_true", help="print cases that pass, too")
    arguments = parser.parse_args()

    with open(os.path.join(arguments.build, "tests.txt")) as lines:
        tests = [Test(line) for line in lines]
    tests = [test for test in tests if arguments.module in (None, test.module)]
    jobs = []
    for test in tests:
        test.read_cases()
        numbers = [number for number, case in enumerate(test.cases)
                   if not arguments.pattern or any(fnmatch.fnmatchcase(case, f"*{text}*") for text in arguments.pattern)]
        if arguments.list:
            print("\n".join(test.cases[number] for number in numbers))
        size = test.slice or max(1, len(numbers))
        jobs += [Job(test, numbers[at:at + size]) for at in range(0, len(numbers), size)]
    if arguments.list:
        return 0
    if not jobs:
        print("no test matches")
        return 1
    jobs.sort(key=lambda job: -job.test.cost)

    scratch = tempfile.mkdtemp(prefix="msprof-tests-")
    runner = Runner(jobs, scratch, arguments.verbose)
    began = time.monotonic()
    workers = [threading.Thread(target=runner.work) for _ in range(max(1, arguments.jobs))]
    try:
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    except KeyboardInterrupt:
        runner.stop()
        return 130
    finally:
        shutil.rmtree(scratch, ignore_errors=True)

    # A thread that ended with an exception leaves cases without a result.
    for test, numbers in jobs:
        for number in numbers:
            if (test, number) not in runner.results:
                runner.report(test, number, "failed", 0, "it has no result", b"")

    with open(os.path.join(arguments.build, "test_times.txt"), "w") as times:
        for (test, number), (state, seconds, _) in sorted(runner.results.items(), key=lambda each: -each[1][1]):
            times.write(f"{seconds:.2f}\t{state}\t{test.cases[number]}\n")
    count = collections.Counter(state for state, _, _ in runner.results.values())
    for test in tests:
        names = [test.cases[number] for (of, number), (state, _, _) in runner.results.items()
                 if of is test and state == "failed"]
        for name in sorted(names):
            print(f"failed: {name}")
    print(f"{len(jobs)} processes, {time.monotonic() - began:.0f} s; the times of all cases are in "
          f"{os.path.join(arguments.build, 'test_times.txt')}")
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped")
    return 1 if count["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
