"""Where settings, laws, questions and recordings are read from, and where a run writes, if nobody says otherwise.

The project is the current directory where that holds `settings.yaml` and `questions/`; else the clone that this code is
part of; else what came inside the package, and then a run writes under the current directory.
"""

from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parent
CLONE = PACKAGE.parent
PACKAGED = PACKAGE / "defaults"


@dataclass(frozen=True)
class Project:
    """The places of one project; without laws of its own, those of the package and their recordings.

    root: what a run writes goes below it, `recordings/` and `reports/`. cache: what was computed and is not recorded.
    """

    root: Path
    settings: Path
    laws: Path
    questions: Path
    recordings: Path
    cache: Path

    @property
    def reports(self) -> Path:
        """Where reports and the baseline go."""
        return self.root / "reports"


def find_project(here: Path, clone: Path = CLONE, packaged: Path = PACKAGED) -> Project:
    """The project of a directory, by the rules above."""
    root = next((each for each in (here, clone) if _is_project(each)), None)
    shipped = clone if _is_project(clone) else packaged
    home = shipped if root is None else root
    own_laws = (home / "laws").is_dir()
    return Project(
        root=here if root is None else root,
        settings=home / "settings.yaml",
        laws=home / "laws" if own_laws else PACKAGE / "laws",
        questions=home / "questions",
        recordings=home / "recordings" if own_laws or (home / "recordings").is_dir() else shipped / "recordings",
        cache=(_own_cache(here) if root is None else root / ".cache") / "vectors",
    )


def _own_cache(here: Path) -> Path:
    """Outside a project nothing but a report is left in the current directory."""
    try:
        return Path.home() / ".cache" / "near-enough"
    except RuntimeError:  # a user without a home
        return here / ".cache"


def _is_project(folder: Path) -> bool:
    try:
        return (folder / "settings.yaml").is_file() and (folder / "questions").is_dir()
    except OSError:  # a directory that may not be looked into is nobody's project
        return False


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # the current directory was removed
        return CLONE


PROJECT = find_project(_here())
