from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def vectors():
    import json

    return json.loads((ROOT / "tests/diagnostics/vectors.json").read_text())


def pytest_configure():
    # Models of a few thousand parameters: threads would only wait for each other.
    try:
        import torch
    except ImportError:
        return
    torch.set_num_threads(1)
