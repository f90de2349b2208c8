"""Every benchmark in turn, each as its own process. Run: `python -m benchmarks.run` (`make bench`)."""

import subprocess
import sys

BENCHMARKS = ("commands", "words", "sweep", "metrics", "statistics", "growth")


def main() -> None:
    """Run them and stop at the first that fails."""
    for name in BENCHMARKS:
        print(f"\n== {name}", flush=True)
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
