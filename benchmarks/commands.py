"""The commands as processes: wall time and peak memory, from recordings, the fastest of three runs.

Run: `python -m benchmarks.commands`.
"""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

ROUNDS = 3
COMMANDS = {
    "--help": ["--help"],
    "eval, three states": ["eval", "--states", "MD,OH,TX"],
    "eval, nine states": ["eval"],
    "compare, nine states": ["compare", "--set", "near_enough=0.8"],
    "gate, nine states": ["gate"],
}


@dataclass(frozen=True)
class Cost:
    """What a process took: wall seconds, and its peak resident memory in MB."""

    seconds: float
    megabytes: float


def cost(arguments: list[str]) -> Cost:
    """One run of a command, its output thrown away; RuntimeError where it did not do its work.

    A gate that fails has done its work.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "evals", *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise RuntimeError(f"near-enough {' '.join(arguments)}: status {process.returncode}")
    scale = 1024 if sys.platform == "linux" else 1024 * 1024
    return Cost(time.perf_counter() - started, usage.ru_maxrss / scale)


def main() -> None:
    """Print a line a command."""
    print(f"{'command':24}{'seconds':>9}{'peak MB':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for name, arguments in COMMANDS.items():
            out = ["--out", f"{folder}/report"] if arguments[0] == "eval" else []
            costs = [cost([*arguments, *out]) for _ in range(ROUNDS)]
            print(f"{name:24}{min(each.seconds for each in costs):9.2f}{max(each.megabytes for each in costs):9.0f}")


if __name__ == "__main__":
    main()
