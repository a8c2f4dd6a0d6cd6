"""eureka.look against the slow reference in NumPy (tests/diagnostics/reference.py), and against the kernels."""

import sys

import eureka
import numpy as np
import pytest
from conftest import ROOT
from eureka import _core

sys.path.insert(0, str(ROOT / "tests/diagnostics"))
import reference


def attention_cases(vectors):
    return [case for case in vectors if "heads" in case]


def look_at(given, **more):
    arrays = {name: np.array(given[name]) for name in ("q", "k", "v", "d_out", "scale")}
    visible = None if given["visible"] is None else np.array(given["visible"])
    return eureka.look(**arrays, causal=given["causal"], visible=visible, **more)


def test_every_number_of_the_reference_is_reproduced(vectors):
    compared = 0
    for case in attention_cases(vectors):
        look = look_at(case["given"])
        for head, expected in enumerate(case["heads"]):
            for diagnostic, numbers in expected.items():
                for name, value in numbers.items():
                    got = getattr(look, diagnostic)[name][head]
                    assert got == pytest.approx(value, rel=1e-5, abs=1e-5), (case["name"], diagnostic, name)
                    compared += 1
    assert compared == 6 * (7 + 6 + 10)


def test_every_tensor_of_the_reference_is_reproduced(vectors):
    for case in attention_cases(vectors):
        look = look_at(case["given"])
        for name, expected in case["tensors"].items():
            expected = np.array(expected)
            assert np.abs(look.tensors[name] - expected).max() <= 1e-5 * max(1, np.abs(expected).max()), name


def arrays(seed, samples=2, heads=3, tokens=7, width=4, keys=None):
    random = np.random.default_rng(seed)
    make = lambda rows: random.normal(size=(samples, heads, rows, width)).astype(np.float32)  # noqa: E731
    return make(tokens), make(keys or tokens), make(keys or tokens), make(tokens)


RULES = [
    ("softmax", {}),
    ("norm_softmax", {}),
    ("norm_softmax", {"deviation": "variance"}),
    ("spread_softmax", {}),
    ("sigmoid", {}),
    ("sigmoid", {"bias": "none"}),
    ("softmax_one", {}),
    ("scalable_softmax", {"learnable": False}),
    ("entmax15", {}),
    ("qk_norm", {"learnable": False}),
    ("qk_norm", {"learnable": False, "norm": "rms"}),
    ("qk_norm", {"learnable": False, "norm": "l2"}),
]


@pytest.mark.parametrize(("rule", "options"), RULES, ids=str)
@pytest.mark.parametrize("mask", ["none", "causal", "keys"])
def test_rules_are_those_of_the_kernels(rule, options, mask):
    q, k, v, d_out = arrays(1)
    visible = np.ones((2, 7), dtype=np.float32)
    visible[0, 4:] = 0
    seen = visible if mask == "keys" else None
    multiple = 1.5
    out, dq, dk, dv = _core.attend(q, k, v, d_out, rule, options, multiple, mask == "causal", seen)
    look = eureka.look(q, k, v, d_out, scale=multiple / 2, causal=mask == "causal", visible=seen, rule=rule, **options)
    for name, expected in (("out", out), ("d_q", dq), ("d_k", dk), ("d_v", dv)):
        assert np.abs(look.tensors[name] - expected).max() < 2e-5 * max(1, np.abs(expected).max()), name


def test_arbitrary_masks_biases_groups_and_cross_attention_are_those_of_the_reference():
    q, k, v, d_out = arrays(2, heads=4, keys=5)
    random = np.random.default_rng(3)
    bias = random.normal(size=(2, 4, 7, 5)).astype(np.float32)
    hidden = random.random((2, 4, 7, 5)) < 0.3
    hidden[..., 0] = False
    look = eureka.look(q, k[:, ::2], v[:, ::2], d_out, scale=0.7, logit_bias=bias, visible=~hidden)
    grouped_k, grouped_v = np.repeat(k[:, ::2], 2, axis=1), np.repeat(v[:, ::2], 2, axis=1)
    z = np.einsum("nhid,nhjd->nhij", q, grouped_k).astype(float) * 0.7 + bias
    e = np.where(hidden, 0, np.exp(z))
    weights = e / e.sum(-1, keepdims=True)
    assert np.abs(look.tensors["weights"] - weights).max() < 1e-6
    d_weights, dz, _, dq, dk, dv = reference.backward(q, grouped_k, grouped_v, np.full(4, 0.7), ~hidden, weights, d_out)
    for name, expected in (("d_weights", d_weights), ("d_scaled_logits", dz), ("d_q", dq), ("d_k", dk), ("d_v", dv)):
        assert np.abs(look.tensors[name] - expected).max() < 1e-5, name
    # Where heads see different keys, each is said by itself.
    rows = ~hidden
    keys = rows.sum(-1)
    entropy = -(weights * np.log(np.where(weights > 0, weights, 1))).sum(-1) / np.log(np.maximum(keys, 2))
    for head in range(4):
        counted = entropy[:, head][keys[:, head] >= 2]
        assert look.attention["entropy"][head] == pytest.approx(counted.mean(), rel=1e-5)
    assert look.attention["k_norm"][0] == pytest.approx(np.sqrt((k[:, 0] ** 2).sum(-1).mean()), rel=1e-5)


def test_an_additive_mask_hides_what_a_boolean_one_hides():
    q, k, v, d_out = arrays(4)
    visible = np.tril(np.ones((7, 7), dtype=bool))
    additive = np.where(visible, 0, np.finfo(np.float32).min)
    by_bias = eureka.look(q, k, v, d_out, logit_bias=additive)
    by_flag = eureka.look(q, k, v, d_out, causal=True)
    for name in by_flag.attenuation:
        assert np.array_equal(by_bias.attenuation[name], by_flag.attenuation[name]), name


def test_without_a_gradient_its_numbers_are_left_out():
    q, k, v, _ = arrays(5)
    look = eureka.look(q, k, v)
    assert look.attenuation == {}
    assert "d_q" not in look.tensors
    assert set(look.attention) >= {"entropy", "logit_deviation"}


def test_numbers_of_any_kind_and_order_are_looked_at():
    given = [np.round(4 * x) for x in arrays(6)]
    expected = eureka.look(*given).attention
    kinds = [np.float64, np.float16, np.int64, np.int8, ">f4", object]
    ways = [lambda x, kind=kind: x.astype(kind) for kind in kinds]
    ways += [np.asfortranarray, lambda x: np.ascontiguousarray(x[..., ::-1])[..., ::-1], lambda x: x.tolist()]
    for way in ways:
        for name, numbers in eureka.look(*(way(x) for x in given)).attention.items():
            assert np.array_equal(numbers, expected[name]), name


@pytest.mark.filterwarnings("error")
def test_what_is_no_number_is_said():
    q, k, v, d_out = arrays(6)
    spoiled = q.copy()
    spoiled[0, 0, 0, :2] = np.nan
    slips = {
        "q: not an array of real numbers": lambda: eureka.look("q", k, v),
        "k: not an array of real numbers": lambda: eureka.look(q, k + 1j, v),
        "q has 0 dimensions": lambda: eureka.look(None, k, v),
        f"q has 2 of {q.size} numbers that are not finite": lambda: eureka.look(spoiled, k, v),
        "d_out has 1 of": lambda: eureka.look(q, k, v, np.where(d_out == d_out.max(), 1e300, d_out.astype(float))),
        "there is nothing to look at": lambda: eureka.look(q[..., :0], k[..., :0], v[..., :0]),
        "scale: not an array": lambda: eureka.look(q, k, v, scale="large"),
        "which does not fit": lambda: eureka.look(q, k, v, scale=np.ones(q.shape[1] + 1)),
        "scale must be finite": lambda: eureka.look(q, k, v, scale=np.inf),
        "visible: not an array": lambda: eureka.look(q, k, v, visible="all"),
        "logit_bias: not an array": lambda: eureka.look(q, k, v, logit_bias="none"),
        "there is no attention rule '3'": lambda: eureka.look(q, k, v, rule=3),
    }
    for said, slip in slips.items():
        with pytest.raises(eureka.Error, match=said):
            slip()
    tokens = q.shape[2]
    with pytest.raises(eureka.Error, match=f"visible is {tokens} x {tokens}") as refused:
        eureka.look(q, k, v, visible=np.tril(np.ones((tokens, tokens), dtype=bool)))
    assert "visible[None, None]" in str(refused.value)


def test_what_does_not_fit_is_said():
    q, k, v, d_out = arrays(6)
    with pytest.raises(eureka.Error, match="differ in width"):
        eureka.look(q, k[..., :3], v)
    with pytest.raises(eureka.Error, match="d_out is"):
        eureka.look(q, k, v, d_out[:, :1])
    with pytest.raises(eureka.Error, match="did you mean 'softmax'"):
        eureka.look(q, k, v, rule="sofmax")
    with pytest.raises(eureka.Error, match="did you mean 'deviation'"):
        eureka.look(q, k, v, rule="norm_softmax", deviatio="std")
    with pytest.raises(eureka.Error, match="no known function"):
        eureka.look(q, k, v, rule="linear")
    with pytest.raises(eureka.Error, match="not 4"):
        eureka.look(q[0], k, v)
