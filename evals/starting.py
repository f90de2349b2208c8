"""The small working set that `near-enough init` writes: laws, questions, settings and a CI workflow to edit."""

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from retrieval.documents import parse_json
from retrieval.errors import Fault, InputError
from retrieval.recordings import write_beside

STARTER = Path(__file__).parent / "starter"

# Names that would be hidden, or obeyed, where the templates lie.
RENAMED = {"gitignore": ".gitignore", "github/workflows/near-enough.yml": ".github/workflows/near-enough.yml"}

PLACE = "{{ near_enough }}"
UNKNOWN = "near-enough @ git+https://HOST/OWNER/near-enough@COMMIT"


def start(folder: Path, source: str = UNKNOWN) -> list[Path]:
    """Write the working set into a folder, made where it is missing; the files written, in order of their names.

    `source` is what pip installs in the workflow. Nothing is ever overwritten: InputError, and nothing written, where
    one of the files is there already, each by name, or where something stands in the way.
    """
    texts = starter(source)
    there = [path for name in texts if _exists(path := folder / name)]
    faults = [Fault(str(path), None, "is there already; choose another folder, or move it away") for path in there]
    if faults:
        raise InputError(faults)
    try:
        for name, text in texts.items():
            write_beside(folder / name, text)
    except OSError as error:
        raise InputError([Fault(str(folder), None, f"cannot be written: {error.strerror or error}")]) from None
    return [folder / name for name in texts]


def _exists(path: Path) -> bool:
    return path.exists() or path.is_symlink()


def starter(source: str = UNKNOWN) -> dict[str, str]:
    """The text of each file by its path in the working set, in order of the names."""
    texts = {
        path.relative_to(STARTER).as_posix(): path.read_text(encoding="utf-8")
        for path in STARTER.rglob("*")
        if path.is_file()
    }
    return {RENAMED.get(name, name): text.replace(PLACE, source) for name, text in sorted(texts.items())}


def installed_from() -> str:
    """What pip has to install to get this very near-enough: its repository and commit; UNKNOWN where nobody noted it.

    Source: PEP 610, which has an installer note where a package came from.
    """
    try:
        noted = distribution("near-enough").read_text("direct_url.json")
        content = parse_json(noted) if noted else {}
    except (PackageNotFoundError, ValueError):
        return UNKNOWN
    return requirement(content)


def requirement(direct_url: object) -> str:
    """A PEP 610 record as a requirement; UNKNOWN where it names no commit of a repository."""
    match direct_url:
        case {"url": str(url), "vcs_info": {"vcs": str(vcs), "commit_id": str(commit)}} if '"' not in url:
            return f"near-enough @ {vcs}+{url}@{commit}"
    return UNKNOWN
