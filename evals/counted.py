"""A number of things in words."""


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "pair"), counted(10080, "pair")
    ('1 pair', '10,080 pairs')
    """
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
