"""What Eureka has to say when something is wrong."""

from __future__ import annotations


class Error(RuntimeError):
    """Something the caller can mend: what happened, where, and what to do about it.

    ``kind`` is ``"usage"``, ``"config"``, ``"input"``, ``"output"`` or ``"failed"``.
    """

    def __init__(self, what: str, kind: str = "usage", where: str = "", hint: str = "") -> None:
        text = f"{where}: {what}" if where else what
        super().__init__(f"{text}\n  {hint}" if hint else text)
        self.what = what
        self.kind = kind
        self.where = where
        self.hint = hint
