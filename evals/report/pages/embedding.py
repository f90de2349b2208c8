"""How a page holds its style, its script and its data: one file that fetches nothing, whoever wrote what it shows.

A content security policy lets only the page's own script run; templates escape what they are given.
"""

import base64
import hashlib
from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from retrieval.documents import strict_json

HERE = Path(__file__).parent
MOST_DATA = 5_700_000  # bytes: of six million, the tables and the script take the rest


def rendered(template: str, styles: Sequence[str], scripts: Sequence[str], data: str, **shown: object) -> str:
    """A template of this folder with its style and script files, in their order, and `data` as `embedded` makes it."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = '"use strict";\n' + _texts(scripts)
    return environment.get_template(template).render(
        policy=_policy(script),
        style=Markup(_texts(styles)),  # noqa: S704  # ours
        script=Markup(script),  # noqa: S704  # ours
        data=Markup(data),  # noqa: S704  # no < is left in it
        **shown,
    )


def embedded(content: object) -> str:
    """JSON that can stand inside a script element: no text can end it, and no reader takes a part for a line's end."""
    text = strict_json(content, spaces=False).replace("<", "\\u003c")
    return text.replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _texts(names: Sequence[str]) -> str:
    return "".join((HERE / name).read_text(encoding="utf-8") for name in names)


def _policy(script: str) -> str:
    """What the browser may load and run: nothing from anywhere, and of scripts this one alone."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    sources = f"script-src 'sha256-{digest}'; style-src 'unsafe-inline'"
    return f"default-src 'none'; {sources}; base-uri 'none'; form-action 'none'"
