// Arrays across the border of C++ and Python: taken in without a copy, given out with the memory they stand in.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <memory>
#include <vector>

#include "engine/observation.h"

namespace eureka::python {

namespace nb = nanobind;

// What Python hands in; it has made contiguous numbers of this type of it.
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Heads = nb::ndarray<const float, nb::ndim<4>, nb::c_contig, nb::device::cpu>;

// The numbers themselves, which live as long as the array does.
template <class T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* data) noexcept { delete static_cast<std::vector<T>*>(data); });
  return nb::ndarray<nb::numpy, T>(kept->data(), shape.size(), shape.data(), owner);
}

template <class T>
nb::ndarray<nb::numpy, T> array_of(std::vector<T> values) {
  const std::size_t count = values.size();
  return array_of(std::move(values), {count});
}

inline TensorView view_of(const Heads& array) {
  TensorView view{.data = array.data()};
  for (std::size_t i = 0; i < 4; ++i) view.sizes[i] = static_cast<std::int64_t>(array.shape(i));
  for (std::size_t i = 0; i < 3; ++i) view.strides[i] = array.stride(i);
  return view;
}

}  // namespace eureka::python
