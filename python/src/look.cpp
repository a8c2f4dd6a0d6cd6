// The diagnostics of attention on arrays.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include "arrays.h"
#include "bindings.h"
#include "diagnostics/array_attention.h"
#include "rules.h"

namespace eureka::python {
namespace {

using Seen = nb::ndarray<const std::uint8_t, nb::ndim<4>, nb::device::cpu>;
using Bias = nb::ndarray<const float, nb::ndim<4>, nb::device::cpu>;

// Python has broadcast it: what is one for all has a stride of 0.
template <class T, class Array>
PairView<T> pairs_of(const std::optional<Array>& array) {
  if (!array) return {};
  return {array->data(), array->stride(0), array->stride(1), array->stride(2), array->stride(3)};
}

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A projection of an attention layer: layer, "q", "k", "v" or "o", heads, weights and gradient, rows by output.
using Projection = std::tuple<int, std::string, std::size_t, Matrix, Matrix>;

NamedNumbers gradients(const std::vector<Projection>& parts) {
  const auto diagnostic = Registry<Diagnostic>::instance().make("gradients");
  for (const auto& [layer, part, heads, weights, gradient] : parts) {
    ParameterSpec spec;
    spec.name = fmt::format("blocks.{}.attn.{}.weight", layer, part == "o" ? "proj" : part);
    const auto rows = static_cast<std::int64_t>(weights.shape(0)),
               columns = static_cast<std::int64_t>(weights.shape(1));
    spec.shape = {rows, columns};
    ParameterView view{.spec = &spec,
                       .rows = rows,
                       .columns = columns,
                       .stride = columns,
                       .values = weights.data(),
                       .gradient = gradient.data(),
                       .heads = heads};
    diagnostic->see_parameter(view);
  }
  NamedNumbers numbers;
  NumberRow row("gradients", numbers);
  diagnostic->report(row);
  return numbers;
}

}  // namespace

void bind_look(nb::module_& module) {
  module.def(
      "look",
      [](const Heads& q, const Heads& k, const Heads& v, const std::optional<Heads>& d_out,
         const std::vector<float>& scale, bool causal, const std::optional<Seen>& visible,
         const std::optional<Bias>& bias, const std::string& rule, const nb::dict& options, int layer,
         bool with_tensors) {
        ArrayAttention given{.q = view_of(q), .k = view_of(k), .v = view_of(v), .scale = scale, .causal = causal};
        if (d_out) given.d_out = view_of(*d_out);
        given.visible = pairs_of<std::uint8_t>(visible);
        given.bias = pairs_of<float>(bias);
        const FusedRule made = rule_of(rule, options);
        ArrayLook look;
        {
          nb::gil_scoped_release release;
          look = look_at_arrays(given, made, layer);
        }
        nb::dict tensors;
        const auto put = [&](const char* name, std::vector<float>& values, std::size_t rows, std::size_t columns) {
          if (with_tensors && !values.empty())
            tensors[name] = array_of(std::move(values), {q.shape(0), q.shape(1), rows, columns});
        };
        put("weights", look.tensors.weights, q.shape(2), k.shape(2));
        put("out", look.tensors.out, q.shape(2), v.shape(3));
        put("d_weights", look.tensors.d_weights, q.shape(2), k.shape(2));
        put("d_scaled_logits", look.tensors.d_scaled_logits, q.shape(2), k.shape(2));
        put("d_q", look.tensors.d_q, q.shape(2), q.shape(3));
        put("d_k", look.tensors.d_k, k.shape(2), k.shape(3));
        put("d_v", look.tensors.d_v, v.shape(2), v.shape(3));
        return nb::make_tuple(look.numbers, tensors);
      },
      nb::arg("q"), nb::arg("k"), nb::arg("v"), nb::arg("d_out").none(), nb::arg("scale"), nb::arg("causal"),
      nb::arg("visible").none(), nb::arg("bias").none(), nb::arg("rule"), nb::arg("options"), nb::arg("layer"),
      nb::arg("with_tensors"));
  module.def("gradients", &gradients, nb::arg("parts"));
}

}  // namespace eureka::python
