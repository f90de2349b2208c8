"""Keys and accounts, which come from the environment alone."""

from collections.abc import Mapping

from retrieval.errors import ModelError


def credential(environment: Mapping[str, str], name: str) -> str:
    """A variable's value without space around it, empty where it is not set.

    ModelError, without the value, where it holds what neither a header nor an address takes: the line break of a file,
    a quotation mark of another script.
    """
    value = environment.get(name, "").strip()
    if not all("!" <= each <= "~" for each in value):
        raise ModelError(f"{name} in the environment holds a character that no key does: a space, or one beyond ASCII")
    return value
