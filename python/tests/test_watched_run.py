"""A watched run's directory under every verb of the program that reads runs."""

import gc
import json
import math
import re
import signal
import subprocess
import urllib.request

import eureka
import pytest
from eureka import _program

torch = pytest.importorskip("torch")
import torch_models as models  # noqa: E402


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Two whose accuracy jumps, and one that is known by its loss alone."""
    place = tmp_path_factory.mktemp("watched")
    for name, at in (("sooner", 120), ("later", 180)):
        model = models.made("encoder")
        optimizer = torch.optim.SGD(model.parameters(), 0.01)
        with eureka.watch(model, every=50, out=place / name, plateau_level=0.5) as w:
            for step in range(1, 301):
                loss = models.loss_of(model, models.batch(step))
                loss.backward()
                optimizer.step()
                accuracy = 0.5 + 0.5 / (1 + math.exp(-(step - at) / 5))
                w.step(loss=loss, **({"val_accuracy": accuracy} if step % 5 == 0 else {}))
                optimizer.zero_grad()
    model = models.made("encoder")
    with eureka.watch(model, every=5, out=place / "loss") as w:
        models.train(model, 30, w)
    return place


def said(*words):
    done = subprocess.run([str(_program.program()), *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_show(runs):
    shown = said("show", runs / "sooner", "--show", "attenuation/qk_to_v")
    assert f"Encoder · softmax · watched in PyTorch {torch.__version__} · validation accuracy" in shown
    assert "moment at step 120" in shown
    assert "attenuation/qk_to_v" in shown
    assert "finished after 300 steps; validation accuracy 1.000" in shown
    by_loss = said("show", runs / "loss")
    assert "training loss" in by_loss
    assert re.search(r"finished after 30 steps; training loss \d\.\d{3}", by_loss)
    assert json.loads(said("show", runs / "sooner", "--json"))["moment"]["step"] == pytest.approx(120, abs=1)


def test_compare(runs):
    compared = said("compare", runs / "sooner", runs / "later")
    assert re.search(r"sooner +finished +0 +120 +1\.000", compared)
    assert re.search(r"later +finished +0 +180 +1\.000", compared)
    refused = subprocess.run(
        [str(_program.program()), "compare", str(runs / "sooner"), str(runs / "loss")], capture_output=True, text=True
    )
    assert refused.returncode == 2
    assert "is judged by train_loss" in refused.stderr


def test_diagnose(runs):
    told = said("diagnose", runs / "sooner", runs / "loss")
    assert "It had its moment at step 120" in told
    assert "layer0 (" in told
    assert 'eureka.rescue(make_run, {"scale-4"' in told or "No sign that the softmax is the obstacle" in told
    sooner, by_loss = json.loads(said("diagnose", runs / "sooner", runs / "loss", "--json"))
    assert sooner["reading"] in ("starved-even", "not-starved")
    assert sooner["first_look"] == 1
    assert all(layer["gradients_of"] == "parameters" and not layer["missing"] for layer in sooner["layers"])
    assert by_loss["metric"] == "train_loss"


def test_detect(runs):
    found = json.loads(said("detect", runs / "later", "--json"))
    assert found["column"] == "val_accuracy"
    assert found["moments"][0]["step"] == pytest.approx(180, abs=2)


def test_report(runs, tmp_path):
    page = tmp_path / "page.html"
    said("report", runs / "sooner", runs / "later", "-o", page)
    text = page.read_text()
    assert "By the program that trained it" in text
    assert "through_softmax" in text
    assert "cannot be read" not in text
    said("report", runs / "sooner", "--figure", "curve", "-o", tmp_path / "curve.svg")
    assert "validation accuracy" in (tmp_path / "curve.svg").read_text()


def test_serve(runs):
    server = subprocess.Popen([str(_program.program()), "serve", str(runs), "--port", "0"], stdout=subprocess.PIPE)
    try:
        address = re.search(rb"http://\S+", server.stdout.readline()).group().decode()
        ask = lambda what: json.loads(urllib.request.urlopen(address + what, timeout=60).read())  # noqa: E731
        entries = {entry["id"]: entry for entry in ask("api/index")["entries"]}
        assert set(entries) == {"sooner", "later", "loss"}
        assert entries["sooner"]["metric"] == "val_accuracy"
        assert entries["sooner"]["moment"] == pytest.approx(120, abs=1)
        assert entries["sooner"]["rule"] == "softmax"
        assert entries["loss"]["metric"] == "train_loss"
        columns = {column["name"] for column in ask("api/run?id=later")["columns"]}
        assert "attention/entropy/layer1/head3" in columns
    finally:
        server.send_signal(signal.SIGINT)
        assert server.wait() == 0


def test_what_needs_its_config_says_why_it_cannot_be_had(runs):
    for verb in (["look"], ["train", "--resume", "--out"]):
        refused = subprocess.run([str(_program.program()), *verb, str(runs / "sooner")], capture_output=True, text=True)
        assert refused.returncode == 2
        assert "was watched in another program" in refused.stderr


def test_its_curve_is_that_of_its_validation(runs):
    assert eureka.Run(runs / "sooner").curve().name == "val_accuracy"
    assert eureka.Run(runs / "loss").curve().name == "train_loss"
    assert eureka.Run(runs / "later").curve().detect(plateau_level=0.5).moment.step == pytest.approx(180, abs=2)


def test_without_a_place_of_its_own_it_goes_with_the_watch():
    model = models.made("encoder")
    with eureka.watch(model, every=5) as w:
        models.train(model, 5, w)
    place = w.path
    assert place is not None
    assert (place / "metrics.jsonl").exists()
    del w
    gc.collect()
    assert not place.exists()
