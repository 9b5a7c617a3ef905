"""Child processes that do not outlive this one, however it ends."""

import signal
import sys


def with_parent(*command, sent="KILL"):
    """The command, run with exec, gets this signal when its parent is gone.

    The kernel sends it when the thread ends that started the command: what
    is to live longer is started by the main thread.
    """
    return ["setpriv", f"--pdeathsig={sent}", "--", *command]


def end_on_sigterm():
    """From now on SIGTERM leaves all `with` blocks and ends the program."""
    signal.signal(signal.SIGTERM, _end)


def _end(number, _):
    # `timeout` signals twice; the second one must not disturb the clean-up.
    # Not SIG_IGN, which children would take over.
    signal.signal(number, lambda *_: None)
    sys.exit(128 + number)
