"""The examples run, made short; and both callbacks write runs that read back."""

import subprocess
import sys

import pytest
from conftest import ROOT

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402

NEEDS = {
    "stuck_encoder.py": ([], ["40", "2"], "as it is"),
    "hugging_face.py": (["transformers", "accelerate"], ["30"], "eureka_qk_norm: accuracy"),
    "x_transformers_model.py": (["x_transformers"], ["4"], "norm_softmax: loss"),
    "lightning_module.py": (["lightning"], ["60"], "accuracy"),
    "flash_norm_softmax.py": ([], ["64"], "largest error"),
}


@pytest.mark.parametrize("name", NEEDS)
def test_example(name):
    packages, arguments, said = NEEDS[name]
    for package in packages:
        if not models.has(package):
            pytest.skip(f"needs {package}")
    ran = subprocess.run([sys.executable, str(ROOT / "examples" / name), *arguments], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert said in ran.stdout
