"""Curves, runs, studies and comparisons: what needs NumPy and nothing else."""

import os
import signal
import subprocess
import sys
import time

import eureka
import numpy as np
import pytest
from eureka import _program


def stuck_curve(steps=100, at=60):
    x = np.arange(steps)
    return 0.55 + 0.45 / (1 + np.exp(-(x - at) / 1.5)) + 0.004 * np.sin(x * 1.7)


def test_a_moment_is_found_where_it_is():
    found = eureka.detect(stuck_curve(), np.arange(100) * 25)
    assert len(found.moments) == 1
    assert found.moment.step == pytest.approx(1500, abs=30)
    assert found.moment.before == pytest.approx(0.55, abs=0.01)
    assert found.direction == "up"
    assert eureka.detect(1 - stuck_curve()).direction == "down"


def test_point_by_point_says_the_same_as_at_once():
    detector = eureka.Detector("up")
    for step, value in enumerate(stuck_curve()):
        detector.add(step, value)
    detector.finish()
    at_once = eureka.detect(stuck_curve(), direction="up")
    assert detector.moments == at_once.moments
    assert detector.findings.plateaus == at_once.plateaus


@pytest.mark.filterwarnings("error")
def test_curves_and_tables_that_are_none_are_said():
    detect, compare, runs = eureka.detect, eureka.compare, ([5.0, 9.0], [1, 1], ["a", "b"])
    slips = {
        "values: not an array of real numbers": lambda: detect(["a", "b"]),
        "training values: not an array": lambda: detect([1.0, 2.0], training=[[1.0], [2.0, 3.0]]),
        "steps: not an array": lambda: detect([1.0, 2.0], [1, 2j]),
        "values have 0 dimensions": lambda: detect(3.0),
        "budget is no number": lambda: detect([1.0, 2.0], budget="long"),
        "plateau_level is no number": lambda: eureka.Detector(plateau_level="low"),
        "value is no number": lambda: eureka.Detector().add(1, "x"),
        "times: not an array": lambda: compare(["x", "y"], *runs[1:]),
        "happened: not an array": lambda: compare(runs[0], ["no", "yes"], runs[2]),
        "happened must be true or false": lambda: compare(runs[0], [np.nan, 1], runs[2]),
        "group is no list": lambda: compare(*runs[:2], 5),
        "a pair is a number or a name": lambda: compare(*runs, [[1], [2]]),
        "the level must be between 0 and 1, not 95": lambda: compare(*runs, level=95),
        "the horizon is no number": lambda: compare(*runs, horizon="x"),
        "there are no runs": lambda: compare([], [], []),
        "differ in length": lambda: compare([1.0], [1, 1], ["a"]),
    }
    for said, slip in slips.items():
        with pytest.raises(eureka.Error, match=said):
            slip()


def test_curves_of_any_kind_and_order_are_read():
    curve = np.repeat([0.25, 1.0], 50)
    expected = eureka.detect(curve).moments
    assert len(expected) == 1
    for way in (curve.astype(np.float16), curve[::-1][::-1], np.repeat(curve, 2)[::2], curve.tolist()):
        assert eureka.detect(way).moments == expected
    assert len(eureka.detect((4 * curve).astype(np.int8)).moments) == 1
    assert eureka.detect([]).moments == []
    assert eureka.detect([np.nan] * 30).moments == []


def test_settings_may_be_numbers_of_numpy_and_places(tmp_path):
    text = _program._toml([np.int64(5), np.float32(0.5), np.bool_(True), np.arange(2), tmp_path])
    assert text == f'[5, 0.5, true, [0, 1], "{tmp_path}"]'


def test_steps_that_go_back_are_refused_in_our_words():
    with pytest.raises(eureka.Error, match="step"):
        eureka.detect([1, 2, 3], [0, 2, 1])
    with pytest.raises(eureka.Error, match="2 steps for 3 values"):
        eureka.detect([1, 2, 3], [0, 2])
    with pytest.raises(eureka.Error, match="no direction 'sideways'"):
        eureka.detect([1, 2, 3], direction="sideways")


# Freireich 1963: weeks in remission, published medians 8 (placebo) and 23 (6-MP), log-rank chi-square 16.79.
PLACEBO = [1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23]
TREATED = [6, 6, 6, 6, 7, 9, 10, 10, 11, 13, 16, 17, 19, 20, 22, 23, 25, 32, 32, 34, 35]
RELAPSED = [1, 1, 1, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0]


def test_the_leukaemia_trial_has_its_published_numbers():
    times, came = PLACEBO + TREATED, [1] * 21 + RELAPSED
    result = eureka.compare(times, came, ["placebo"] * 21 + ["6-MP"] * 21)
    assert result.baseline.median == 8
    treated = result["6-MP"]
    assert treated.median == 23
    assert treated.log_rank_p == pytest.approx(4.17e-5, rel=0.01)
    assert np.log(treated.hazard_ratio) == pytest.approx(-1.572, abs=0.002)
    assert treated.verdict_kind == "later"
    assert treated.paired is None


def test_pairs_are_compared_with_each_other():
    seeds = list(range(10))
    times = [100 + 10 * s for s in seeds] + [50 + 10 * s for s in seeds]
    result = eureka.compare(times, [True] * 20, ["a"] * 10 + ["b"] * 10, seeds * 2)
    assert result["b"].paired.sooner == 10
    assert result["b"].paired.sign_test_p == pytest.approx(2 / 1024)
    with pytest.raises(eureka.Error, match="same pair"):
        eureka.compare([1, 2], [True, True], ["a", "a"], [1, 1])
    with pytest.raises(eureka.Error, match="no group 'c'"):
        eureka.compare([1, 2], [True, True], ["a", "b"], baseline="c")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return eureka.train(
        "two-step", seed=1, out=tmp_path_factory.mktemp("runs") / "a", settings={"train.steps": 1200, "task.classes": 4}
    )


def test_a_trained_run_is_read_as_the_program_wrote_it(run, capfd):
    assert run.status == "finished"
    assert run.steps[-1] == 1200
    assert run.curve().name == "val_accuracy"
    assert "attention/entropy/layer0/head0" in run.diagnostics
    lines = (run.path / "metrics.jsonl").read_text().splitlines()
    assert len(lines) == len(run.steps)
    assert run.summary["steps"] == 1200
    if run.moment is not None:
        assert run.curve().detect(plateau_level=run.summary["task_plateau_accuracy"]).moments
    assert run.checkpoints[-1] == 1200
    tensors = run.tensors()
    assert all(values.dtype == np.float32 for values in tensors.values())
    assert sum(values.size for values in tensors.values()) == run.summary["parameters"]
    with pytest.raises(eureka.Error, match="no checkpoint at step 7"):
        run.tensors(7)
    with pytest.raises(eureka.Error, match="no column 'nonsense'"):
        run.curve("nonsense")
    assert capfd.readouterr() == ("", "")


def test_metrics_are_not_copied_twice(run):
    values = run.columns["val_accuracy"]
    assert not values.flags.owndata
    assert run.columns["val_accuracy"] is values


def test_what_the_program_refuses_is_an_exception(tmp_path):
    with pytest.raises(eureka.Error, match=r"did you mean 'train.steps'") as refused:
        eureka.train("two-step", out=tmp_path / "a", settings={"train.stepz": 5})
    assert refused.value.kind == "config"
    with pytest.raises(eureka.Error, match="holds no run"):
        eureka.Run(tmp_path)
    with pytest.raises(eureka.Error):
        eureka.Study(tmp_path)


def test_a_study_of_tables(tmp_path):
    study = eureka.study(
        {
            "study": {"base": "two-step", "seeds": 2, "budget": 100, "question": "Which is sooner?"},
            "arm": [{"name": "softmax"}, {"name": "sharp", "set": {"attention.scale.multiple": 4}}],
        },
        out=tmp_path / "s",
    )
    assert study.baseline == "softmax"
    assert [arm["name"] for arm in study.arms] == ["softmax", "sharp"]
    assert len(study.trials) == 4
    assert {run.steps[-1] for run in study.runs()} == {100}
    assert set(study.verdicts()) == {"softmax", "sharp"}


def test_an_interrupt_leaves_a_checkpoint(tmp_path):
    out = tmp_path / "long"
    # Whoever runs the tests in the background has had interrupts turned off.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{heard}; import eureka; eureka.train('two-step', out={str(out)!r}, settings={{'train.steps': 10**6}})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not (out / "metrics.jsonl").exists():
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGINT)
    _, complaint = process.communicate()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in complaint
    run = eureka.Run(out)
    assert run.status == "interrupted"
    assert run.checkpoints


def test_the_program_is_the_one_of_this_package():
    said = subprocess.run([str(_program.program()), "--version"], capture_output=True, text=True, check=True)
    assert eureka.__version__ in said.stdout


def test_torch_is_not_imported_by_the_package():
    code = "import sys, eureka; eureka.detect([1, 2, 3]); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_frames_and_figures(run):
    pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert frame.index.name == "step"
    assert frame["val_accuracy"].iloc[-1] == run.columns["val_accuracy"][-1]
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = run.plot()
    assert axes.get_ylabel() == "val_accuracy"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), run.curve().values)
    result = eureka.compare(PLACEBO + TREATED, [1] * 21 + RELAPSED, ["p"] * 21 + ["t"] * 21)
    axes = result.plot()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["p", "t"]
    assert len(result.to_pandas()) == 2
