from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def vectors():
    import json

    return json.loads((ROOT / "tests/diagnostics/vectors.json").read_text())
