#include "nn/device.h"

#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>

#include "base/error.h"

namespace eureka {
namespace {

int device_count(at::DeviceType type) {
  return c10::impl::hasDeviceGuardImpl(type) ? c10::impl::getDeviceGuardImpl(type)->deviceCount() : 0;
}

// The driver, whose C interface needs no CUDA header.
class CudaDriver {
 public:
  CudaDriver() : library_(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    auto* start = found<int (*)(unsigned)>("cuInit");
    if (start == nullptr || start(0) != 0) library_ = nullptr;
  }

  // Empty if it does not say.
  std::string name_of(int index) const {
    std::array<char, 256> name{};
    auto* ask = found<int (*)(char*, int, int)>("cuDeviceGetName");
    const std::optional<int> device = handle_of(index);
    return device && ask != nullptr && ask(name.data(), name.size() - 1, *device) == 0 ? name.data() : std::string();
  }
  std::string identity_of(int index) const {
    std::array<unsigned char, 16> bytes{};
    auto* ask = found<int (*)(unsigned char*, int)>("cuDeviceGetUuid_v2");
    const std::optional<int> device = handle_of(index);
    if (!device || ask == nullptr || ask(bytes.data(), *device) != 0) return {};
    std::string text;
    for (const unsigned char byte : bytes) text += fmt::format("{:02x}", byte);
    return text;
  }

 private:
  template <class Function>
  Function found(const char* name) const {
    return library_ == nullptr ? nullptr : reinterpret_cast<Function>(::dlsym(library_, name));
  }
  std::optional<int> handle_of(int index) const {
    int device = 0;
    auto* find = found<int (*)(int*, int)>("cuDeviceGet");
    return find != nullptr && find(&device, index) == 0 ? std::optional(device) : std::nullopt;
  }

  void* library_;
};

}  // namespace

at::Device device_of_rank(const at::Device& asked, int local_rank, int devices) {
  if (!asked.is_cuda() || asked.has_index() || devices == 0) return asked;
  return {asked.type(), static_cast<at::DeviceIndex>(local_rank % devices)};
}

at::Device device_named(const std::string& name) {
  const at::Device device = [&] {
    try {
      return at::Device(name);
    } catch (const c10::Error&) {
      throw Error(ErrorKind::config, fmt::format("'run.device' names no device: {}", name), {},
                  "for example cpu, cuda, cuda:1");
    }
  }();
  const int count = device_count(device.type());
  if (count == 0)
    throw Error(ErrorKind::config, fmt::format("'run.device' is {}, but this libtorch sees no such device here", name),
                {}, "use --set run.device=cpu, or build with a libtorch for it: make build TORCH=DIR (docs/gpu.md)");
  if (device.has_index() && device.index() >= count)
    throw Error(ErrorKind::config, fmt::format("'run.device' is {}, but there are only {} of its kind", name, count),
                {}, "they are counted from 0; eureka doctor names them");
  return device;
}

std::string device_identity(const at::Device& device) {
  return device.is_cuda() ? CudaDriver().identity_of(device.has_index() ? device.index() : 0) : "";
}

std::optional<at::Device> cuda_device_of_rank(int local_rank) {
  const int count = device_count(at::kCUDA);
  if (count == 0) return {};
  return device_of_rank(at::Device(at::kCUDA), local_rank, count);
}

void make_current(const at::Device& device) {
  if (device.is_cuda() && device.has_index()) c10::impl::getDeviceGuardImpl(device.type())->setDevice(device);
}

std::vector<std::string> device_names() {
  std::vector<std::string> names = {"cpu"};
  const int count = at::hasCUDA() ? device_count(at::kCUDA) : 0;
  for (int i = 0; i < count; ++i) {
    const std::string model = CudaDriver().name_of(i);
    names.push_back(model.empty() ? fmt::format("cuda:{}", i) : fmt::format("cuda:{} ({})", i, model));
  }
  return names;
}

std::string cpu_capability() {
  // 1.13 says it nowhere else.
  constexpr std::string_view kBefore = "CPU capability usage: ";
  const std::string config = at::show_config();
  const std::size_t found = config.find(kBefore);
  if (found == std::string::npos) return "unknown";
  const std::size_t begin = found + kBefore.size();
  return config.substr(begin, config.find_first_of("\n,", begin) - begin);
}

void prefer_repeatable(const at::Device& device) {
  if (!device.is_cuda()) return;
  at::Context& context = at::globalContext();
  context.setDeterministicAlgorithms(true, /*warn_only=*/true);
  context.setDeterministicCuDNN(true);
  context.setBenchmarkCuDNN(false);
  context.setAllowTF32CuBLAS(false);
  context.setAllowTF32CuDNN(false);
#if EUREKA_TORCH_AT_LEAST(2, 2)
  // Or every new tensor is filled with NaN first.
  context.setDeterministicFillUninitializedMemory(false);
#endif
}

at::Tensor sent(const at::Tensor& host, const at::TensorOptions& options) {
  const at::Tensor converted = host.to(c10::typeMetaToScalarType(options.dtype()));
  if (!options.device().is_cuda()) return converted.to(options.device());
  // Torch keeps pinned memory until the copy is done.
  return converted.pin_memory().to(options.device(), /*dtype=*/converted.scalar_type(), /*non_blocking=*/true);
}

std::vector<double> brought_home(const std::vector<at::Tensor>& numbers) {
  std::vector<at::Tensor> doubles;
  for (const at::Tensor& number : numbers) doubles.push_back(number.detach().to(at::kDouble));
  const at::Tensor home = at::stack(doubles).to(at::kCPU);
  const double* data = home.data_ptr<double>();
  return {data, data + home.numel()};
}

at::Tensor readable(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat);
  return plain.stride(-1) == 1 ? plain : plain.contiguous();
}

std::vector<float> plain_values(const at::Tensor& tensor) {
  const at::Tensor plain = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* data = plain.data_ptr<float>();
  return {data, data + plain.numel()};
}

}  // namespace eureka
