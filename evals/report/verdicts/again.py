"""The commands that a verdict prints, each on one line for a shell: they show or record what was measured."""

import re
import shlex
import unicodedata
from collections.abc import Sequence

from evals.outcomes import Outcome

TO_ACCEPT = 'near-enough baseline --why "..."'


def command(name: str, *arguments: str) -> str:
    """A command of the project with its arguments as a shell takes them."""
    return " ".join(["near-enough", name, *map(quoted, arguments)])


def to_see(outcome: Outcome, options: Sequence[str] | None = ()) -> str:
    """The command that shows what each stage gives for a pair.

    `options` are those of `search` that measure what was measured; where they are None no command does (another
    system's run, laws that are not here), and the question stands alone.
    """
    if options is None:
        return f"asked: {outcome.text}"
    searches = [part for search in outcome.searches for part in ("--search", search)]
    searches += ["--family", outcome.family] if outcome.family else []
    own = (outcome.state, outcome.text)
    end_of_options = ["--"] if any(each.startswith("-") for each in own) else []
    return command("search", *options, *searches, *end_of_options, *own)


def quoted(text: str) -> str:
    """Text for a shell.

    In double quotes where it holds an apostrophe and nothing that those would change; as $'...' of bash, zsh and ksh
    where it holds a new line or another control character, so that a command stays one line.
    """
    if any(map(_is_control, text)):
        return f"$'{''.join(map(_escaped, text))}'"
    return f'"{text}"' if "'" in text and not set(text) & set('"$`\\!') else shlex.quote(text)


def one_line(text: str) -> str:
    """Text with a space for each new line and other control character."""
    return "".join(" " if _is_control(sign) else sign for sign in text)


def _is_control(sign: str) -> bool:
    return unicodedata.category(sign) in ("Cc", "Zl", "Zp")


def _escaped(sign: str) -> str:
    if _is_control(sign):
        return f"\\u{ord(sign):04x}" if ord(sign) > 0x7F else f"\\x{ord(sign):02x}"
    return re.sub(r"(['\\])", r"\\\1", sign)
