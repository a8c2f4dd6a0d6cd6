"""The program ``eureka`` that comes with the package: runs and studies as they are from the command line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

import numpy as np

from . import _core
from ._error import Error
from ._records import Place, Run, Study

_FAILED, _BAD_USE, _INTERRUPTED = 1, 2, 4

Config = Union[Place, Mapping[str, Any]]


def program() -> Path:
    """Where the program is; the variable EUREKA_PROGRAM names another."""
    here = Path(str(_core.__file__)).parent
    said = os.environ.get("EUREKA_PROGRAM")
    for place in [Path(said)] if said else [here / "bin" / "eureka", here.parent.parent / "eureka"]:
        if place.is_file():
            return place
    raise Error("the program eureka is not part of this package", "failed", str(here), "EUREKA_PROGRAM names another")


def main() -> int:
    """``eureka`` from the command line."""
    place = str(program())
    os.execv(place, [place, *sys.argv[1:]])


def _toml(value: Any) -> str:
    if isinstance(value, (np.generic, np.ndarray)):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{json.dumps(str(key))} = {_toml(one)}' for key, one in value.items())}}}"
    raise Error(f"{value!r} is neither a number, a text, a list nor a table", "config")


def _document(config: Mapping[str, Any]) -> str:
    """TOML with a table for each key, and one for each element of a list of tables."""
    text = ""
    for key, value in config.items():
        if isinstance(value, Mapping):
            text += f"[{key}]\n" + "".join(f"{json.dumps(name)} = {_toml(one)}\n" for name, one in value.items())
        elif isinstance(value, (list, tuple)) and all(isinstance(one, Mapping) for one in value):
            for table in value:
                text += f"[[{key}]]\n" + "".join(f"{json.dumps(name)} = {_toml(one)}\n" for name, one in table.items())
        else:
            raise Error(f"'{key}' is no table", "config")
    return text


def _run(verb: str, config: Config, words: list[str], show: bool) -> str:
    """What the program printed. It gets our Ctrl-C, and finishes its step before it ends."""
    with tempfile.TemporaryDirectory() as folder:
        if isinstance(config, Mapping):
            source = Path(folder) / f"{verb}.toml"
            source.write_text(_document(config))
        else:
            source = Path(config)
        command = [str(program()), verb, str(source), *words]
        said = None if show else subprocess.PIPE
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True
        ) as process:
            try:
                out, complaint = process.communicate()
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)
                process.communicate()
                raise
    if process.returncode == _INTERRUPTED:
        raise KeyboardInterrupt
    if process.returncode not in (0, _FAILED):
        raise _error(complaint or "", process.returncode)
    if process.returncode == _FAILED and not out.strip():
        raise _error(complaint or "", process.returncode)
    return out


def _error(complaint: str, code: int) -> Error:
    """The program's own sentences, without its name in front."""
    start = complaint.rfind("eureka: ")
    text = complaint[start + len("eureka: ") :].strip() if start >= 0 else f"ended with exit code {code}"
    what, _, hint = text.partition("\n")
    return Error(what.strip(), "config" if code == _BAD_USE else "failed", hint=hint.strip())


def _settings(settings: Mapping[str, Any] | None) -> list[str]:
    words = []
    for key, value in (settings or {}).items():
        words += ["--set", f"{key}={_toml(value)}"]
    return words


def train(
    config: Config,
    *,
    out: Place | None = None,
    seed: int | None = None,
    threads: int | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    show: bool = False,
) -> Run:
    """One run of ``eureka train``: a preset, a TOML file, or its tables as a mapping.

    ``settings`` are what ``--set`` takes, ``{"attention.rule": "qk_norm"}``. ``show`` lets the program draw the curve
    on standard error as it grows; otherwise nothing is printed. A run that diverged is returned as such; anything else
    that is wrong is an :class:`eureka.Error` in the program's words. Ctrl-C leaves a checkpoint, and ``resume`` goes on
    from it.
    """
    words = [] if show else ["--quiet"]
    if out is not None:
        words += ["--out", str(out)]
    if seed is not None:
        words += ["--seed", str(seed)]
    if threads is not None:
        words += ["--threads", str(threads)]
    if resume:
        words.append("--resume")
    printed = _run("train", config, words + _settings(settings), show)
    return Run(printed.strip().splitlines()[-1] if out is None else out)


def study(
    config: Config,
    *,
    out: Place,
    seeds: int | None = None,
    jobs: int | None = None,
    settings: Mapping[str, Any] | None = None,
    resume: bool = False,
    show: bool = False,
) -> Study:
    """A study as ``eureka study`` runs it: a preset, a TOML file, or its tables as a mapping.

    ``eureka.study({"study": {"base": "two-step", "seeds": 5}, "arm": [{"name": "softmax"}, ...]}, out="studies/mine")``
    """
    words = ["--out", str(out), "--progress", "table" if show else "none"]
    if seeds is not None:
        words += ["--seeds", str(seeds)]
    if jobs is not None:
        words += ["--jobs", str(jobs)]
    if resume:
        words.append("--resume")
    _run("study", config, words + _settings(settings), show)
    return Study(out)
