"""Arrays of others are taken where they lie, and the interpreter goes on while C++ works."""

import threading
import time

import eureka
import numpy as np
import pytest
from eureka import _core, _plot
from test_look import arrays


@pytest.fixture
def given(monkeypatch):
    """Where the arrays lie that arrive in C++."""
    addresses = []
    real = _core.look

    def look(*args):
        addresses.extend(None if one is None else one.__array_interface__["data"][0] for one in args[:4])
        return real(*args)

    monkeypatch.setattr(_core, "look", look)
    return addresses


def test_a_tensor_is_looked_at_where_it_lies(given):
    torch = pytest.importorskip("torch")
    tensors = [torch.from_numpy(one).clone() for one in arrays(1)]
    tensors[0].requires_grad_(True)
    look = eureka.look(*tensors)
    assert given == [tensor.data_ptr() for tensor in tensors]
    assert look.attention["entropy"] == pytest.approx(eureka.look(*arrays(1)).attention["entropy"], rel=1e-7)


def test_what_has_only_dlpack_is_taken_by_it(given):
    class Capsule:
        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **more):
            return self.array.__dlpack__(**more)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    if not hasattr(np, "from_dlpack"):
        pytest.skip("needs NumPy 1.22")
    own = arrays(2)
    eureka.look(*(Capsule(one) for one in own))
    assert given == [one.ctypes.data for one in own]


def test_what_only_has_a_buffer_is_taken_by_it(given):
    own = arrays(3)
    eureka.look(*(memoryview(one) for one in own))
    assert given == [one.ctypes.data for one in own]


def test_less_precision_is_taken_as_float32():
    torch = pytest.importorskip("torch")
    own = [torch.from_numpy(one).bfloat16() for one in arrays(4)]
    half = eureka.look(*own)
    assert half.attention["entropy"] == pytest.approx(eureka.look(*(one.float() for one in own)).attention["entropy"])
    all_seen = eureka.look(*own, visible=torch.ones(2, 7, dtype=torch.bool))
    assert np.array_equal(all_seen.attention["entropy"], half.attention["entropy"])


def test_results_are_not_copied():
    look = eureka.look(*arrays(5))
    assert all(not tensor.flags.owndata for tensor in look.tensors.values())


def test_other_threads_go_on_while_it_works():
    large = arrays(6, samples=8, heads=8, tokens=128, width=32)
    look = threading.Thread(target=lambda: eureka.look(*large))
    begun = time.perf_counter()
    eureka.look(*large)
    alone = time.perf_counter() - begun
    assert alone > 0.05
    ticks = 0
    look.start()
    while look.is_alive():
        time.sleep(alone / 1000)
        ticks += 1
    # With the lock held, this thread would wake up a few times at the borders.
    assert ticks > 25


def test_a_detector_tells_a_moment_while_the_curve_goes_on():
    detector = eureka.Detector("up", plateau_level=0.55)
    told_at = None
    for step in range(0, 4000, 25):
        detector.add(step, 0.55 if step < 1000 else 1.0)
        if detector.moments and told_at is None:
            told_at = step
    assert 1000 < told_at < 2000
    assert detector.moments[0].step == pytest.approx(1000, abs=25)
    assert len(detector.findings.steps) == 160


def test_figures_have_the_colors_of_the_reports():
    from conftest import ROOT

    palette = (ROOT / "src/figure/palette.cpp").read_text().lower()
    as_there = lambda color: ", ".join(f"0x{color[i : i + 2]}" for i in (1, 3, 5))  # noqa: E731
    for color in (_plot.INK, _plot.MUTED, _plot.GRID, _plot.PLATEAU, _plot.MOMENT, *_plot.SERIES):
        assert f"{{{as_there(color)}}}" in palette, color


def test_figures_show_what_there_is(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    curve = np.where(np.arange(100) < 60, 0.55, 1.0)
    axes = eureka.detect(curve, np.arange(100) * 25).plot()
    assert [line.get_color() for line in axes.lines] == [
        _plot.SERIES[0],
        *[_plot.PLATEAU] * (len(axes.lines) - 2),
        _plot.MOMENT,
    ]
    assert axes.get_legend().get_texts()[0].get_text().startswith("moment at 1")
    study = eureka.study(
        {
            "study": {"base": "two-step", "seeds": 2, "budget": 50, "question": "?"},
            "arm": [{"name": "softmax"}, {"name": "sharp", "set": {"attention.scale.multiple": 4}}],
        },
        out=tmp_path / "study",
    )
    axes = study.plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["softmax", "sharp"]
    assert [line.get_color() for line in axes.lines] == list(_plot.SERIES[:2])
    assert eureka.look(*arrays(7)).plot().images[0].get_array().shape == (7, 7)
