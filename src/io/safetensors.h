// Named arrays on disk in the safetensors format, readable by Python's safetensors, PyTorch and every model hub.
//
//   TensorFile file;
//   file.metadata["step"] = "400";
//   file.add(make_tensor<float>("blocks.1.attn.q", {32, 32}, weights));
//   atomic_write(path, write_safetensors(file));
//
//   TensorFile back = parse_safetensors(bytes, path.string());
//   std::vector<float> q = tensor_values<float>(back.at("blocks.1.attn.q"));
//
// Layout: 8 bytes header length, JSON header padded with spaces to a multiple of 8, data. Equal content gives equal
// bytes whatever the order of add(): tensors are laid out by element size (largest first, so that each is aligned),
// then by name.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/error.h"

namespace eureka {

enum class DType { f64, i64, u64, f32, i32, u32, f16, bf16, i16, u16, i8, u8, boolean };

// "F32", "I64", ... as in the file.
std::string_view dtype_name(DType dtype);
std::size_t dtype_bytes(DType dtype);

template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, double>) return DType::f64;
  if constexpr (std::is_same_v<T, float>) return DType::f32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::i64;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::i32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::u64;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::u32;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::u8;
}

struct NamedTensor {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::int64_t> shape;  // empty for a scalar; no negative sizes
  std::string data;                 // row-major, little-endian, exactly product(shape) elements
};

class TensorFile {
 public:
  std::map<std::string, std::string> metadata;

  // Requires: a new name, data as long as the shape says (checked).
  void add(NamedTensor tensor);

  const std::map<std::string, NamedTensor>& tensors() const { return tensors_; }
  bool contains(const std::string& name) const { return tensors_.contains(name); }

  // Throws Error(input) with a suggestion when there is no such tensor.
  const NamedTensor& at(const std::string& name) const;

 private:
  friend TensorFile parse_safetensors(std::string_view bytes, const std::string& where);
  std::map<std::string, NamedTensor> tensors_;
  std::string where_;
};

std::string write_safetensors(const TensorFile& file);

// Throws Error(input) for anything the format does not allow: header past the end, unknown type, sizes that disagree,
// overlapping or missing data, bytes left over. `where` names the bytes in errors.
TensorFile parse_safetensors(std::string_view bytes, const std::string& where);

template <class T>
NamedTensor make_tensor(std::string name, std::vector<std::int64_t> shape, std::span<const T> values) {
  NamedTensor tensor{std::move(name), dtype_of<T>(), std::move(shape), {}};
  tensor.data.assign(reinterpret_cast<const char*>(values.data()), values.size_bytes());
  return tensor;
}

// The elements as T. Throws Error(input) when the tensor is of another type.
template <class T>
std::vector<T> tensor_values(const NamedTensor& tensor) {
  if (tensor.dtype != dtype_of<T>())
    throw Error(ErrorKind::input, "tensor '" + tensor.name + "' is " + std::string(dtype_name(tensor.dtype)) +
                                      ", expected " + std::string(dtype_name(dtype_of<T>())));
  std::vector<T> values(tensor.data.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

}  // namespace eureka
