"""Runs the tests of this folder on the cluster that is up:  python3 e2e [-k PATTERN] [MODULE …]

Says of each test how it went and how long it took; after the first failure of a class, what the cluster looked like.
The last line is `N passed, N failed`; the exit status is 0 only when none failed.
"""

import argparse
import pathlib
import sys
import time
import traceback
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pawl  # noqa: E402
from cluster import Cluster, use_alone  # noqa: E402


class Report(unittest.TestResult):
    """Prints as it goes."""

    def __init__(self):
        super().__init__()
        self.passed = 0
        self.failed = 0
        self._told = set()

    def startTest(self, test):
        super().startTest(test)
        self._began = time.monotonic()
        self._outcome = None

    def stopTest(self, test):
        super().stopTest(test)
        took = time.monotonic() - self._began
        if self._outcome is None:
            self.passed += 1
            print(f"   ✓ {title(test)}  {took:.1f} s", flush=True)

    def _fail(self, test, error):
        self._outcome = error
        self.failed += 1
        print(f"   ✗ {title(test)}", flush=True)
        print(indent("".join(traceback.format_exception(*error))), flush=True)
        group = type(test).__name__
        if group not in self._told:
            self._told.add(group)
            try:
                print(indent(pawl.story(Cluster())), flush=True)
            except Exception as problem:  # the story must not hide the failure
                print(f"     (no more can be said of the cluster: {problem})", flush=True)

    def addError(self, test, err):
        super().addError(test, err)
        self._fail(test, err)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._fail(test, err)

    def addSkip(self, test, reason):
        # A test that cannot run has not passed.
        super().addSkip(test, reason)
        self._outcome = reason
        self.failed += 1
        print(f"   ✗ {title(test)}: not run: {reason}", flush=True)


def title(test):
    name = getattr(test, "_testMethodName", None)
    return name.removeprefix("test_").replace("_", " ") if name else str(test)


def indent(text):
    return "".join(f"     {line}\n" for line in text.rstrip().splitlines())


def main():
    parser = argparse.ArgumentParser(prog="e2e", description=__doc__)
    parser.add_argument("-k", action="append", default=[], help="only tests whose name contains this")
    parser.add_argument("modules", nargs="*", help="files without .py; all test_*.py when none is named")
    chosen = parser.parse_args()
    alone = use_alone()
    loader = unittest.TestLoader()
    if chosen.k:
        loader.testNamePatterns = [f"*{part.replace(' ', '_')}*" for part in chosen.k]
    folder = pathlib.Path(__file__).resolve().parent
    names = chosen.modules or sorted(path.stem for path in folder.glob("test_*.py"))
    report = Report()
    for name in names:
        print(f"\n{name}", flush=True)
        loader.loadTestsFromName(name).run(report)
    alone.close()
    print(f"\n{report.passed} passed, {report.failed} failed")
    sys.exit(1 if report.failed or not report.passed else 0)


if __name__ == "__main__":
    main()
