"""Runs the test functions of a file, each bounded and reported by name."""

import sys
import time
import traceback


def run(tests):
    """Runs functions one after the other; returns the exit code."""
    failed = 0
    for test in tests:
        started = time.monotonic()
        try:
            test()
            verdict = "ok"
        except Exception:  # pylint: disable=broad-except
            traceback.print_exc()
            verdict = "FAILED"
            failed += 1
        print(f"{verdict:6} {test.__name__} "
              f"({time.monotonic() - started:.1f} s)", flush=True)
    print(f"{len(tests) - failed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def expect(condition, what):
    """Fails with what was seen."""
    if not condition:
        raise AssertionError(what)


def selected(tests):
    """The tests whose names contain an argument, or all."""
    wanted = sys.argv[2:]
    return [test for test in tests
            if not wanted or any(word in test.__name__ for word in wanted)]
