#include "measure/step_profile.h"

#include <cxxabi.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>

#include "base/error.h"

namespace eureka {
namespace {

using Place = StepProfile::Place;

// Filled by the signal handler, which may not allocate.
std::vector<Place> noted;
std::atomic<std::size_t> noted_count{0};

Place place_of(const ucontext_t& context) {
#if defined(__x86_64__)
  const auto& registers = context.uc_mcontext.gregs;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the register holds an address.
  const auto* stack = reinterpret_cast<const std::uintptr_t*>(registers[REG_RSP]);
  return {static_cast<std::uintptr_t>(registers[REG_RIP]), *stack};
#elif defined(__aarch64__)
  return {context.uc_mcontext.pc, context.uc_mcontext.regs[30]};
#else
  (void)context;
  return {};
#endif
}

void note(int, siginfo_t*, void* context) {
  const std::size_t i = noted_count.load(std::memory_order_relaxed);
  if (i >= noted.size()) return;
  noted[i] = place_of(*static_cast<const ucontext_t*>(context));
  noted_count.store(i + 1, std::memory_order_relaxed);
}

// Interrupts this thread every half millisecond of wall-clock time while it exists.
class Interruptions {
 public:
  Interruptions() {
    struct sigaction action {};
    action.sa_sigaction = note;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    ::sigaction(SIGPROF, &action, &before_);
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = static_cast<pid_t>(::syscall(SYS_gettid));
    if (::timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0)
      throw Error(ErrorKind::failed, "cannot make a timer to interrupt the steps with");
    const itimerspec period{{0, 500'000}, {0, 500'000}};
    ::timer_settime(timer_, 0, &period, nullptr);
  }
  Interruptions(const Interruptions&) = delete;
  Interruptions& operator=(const Interruptions&) = delete;
  ~Interruptions() {
    ::timer_delete(timer_);
    ::sigaction(SIGPROF, &before_, nullptr);
  }

 private:
  struct sigaction before_ {};
  timer_t timer_{};
};

struct Function {
  std::uintptr_t begin, end;
  std::string name;
};

template <class T>
T read_at(std::ifstream& file, std::uint64_t offset) {
  T value{};
  file.seekg(static_cast<std::streamoff>(offset));
  file.read(reinterpret_cast<char*>(&value), sizeof value);
  return value;
}

std::uintptr_t load_address() {
  std::uintptr_t address = 0;
  // The program itself comes first.
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* to) {
        *static_cast<std::uintptr_t*>(to) = info->dlpi_addr;
        return 1;
      },
      &address);
  return address;
}

std::string readable(const char* mangled) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(abi::__cxa_demangle(mangled, nullptr, nullptr, &status), std::free);
  return status == 0 ? name.get() : mangled;
}

// The functions of this program by address, from its symbol table.
std::vector<Function> own_functions() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  std::vector<Function> functions;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_at<Elf64_Shdr>(file, header.e_shoff + i * header.e_shentsize);
    if (section.sh_type != SHT_SYMTAB) continue;
    const auto names = read_at<Elf64_Shdr>(file, header.e_shoff + std::uint64_t{section.sh_link} * header.e_shentsize);
    std::string text(names.sh_size, '\0');
    file.seekg(static_cast<std::streamoff>(names.sh_offset));
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    std::vector<Elf64_Sym> symbols(section.sh_size / sizeof(Elf64_Sym));
    file.seekg(static_cast<std::streamoff>(section.sh_offset));
    file.read(reinterpret_cast<char*>(symbols.data()), static_cast<std::streamsize>(section.sh_size));
    for (const Elf64_Sym& symbol : symbols)
      if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_size > 0)
        functions.push_back({symbol.st_value, symbol.st_value + symbol.st_size, text.c_str() + symbol.st_name});
  }
  std::sort(functions.begin(), functions.end(), [](const Function& a, const Function& b) { return a.begin < b.begin; });
  return functions;
}

constexpr const char* kRest = "rest";

// Which part of a step a function belongs to: the first line that has all of its words in the function's name.
struct Part {
  const char* name;
  std::vector<const char*> words;
};

const std::vector<Part>& parts() {
  static const std::vector<Part> all = {
      // Left factors: 0 by rows, 1 transposed, 2 packed.
      {"weight gradients", {"Left)1", "Accumulate"}},
      {"weight gradients", {"Left)2"}},
      {"weight gradients", {"column_sums"}},
      {"attention", {"StoreExactly"}},
      {"attention", {"StoreLogits"}},
      {"attention", {"AttentionShape"}},
      {"attention", {"AbsorbedShape"}},
      {"attention", {"absorbed_"}},
      {"attention", {"multiply_rows_now"}},
      {"LayerNorm", {"NormShape"}},
      {"embedding", {"Left)0", "Accumulate"}},
      {"embedding", {"FusedPass::embed"}},
      {"embedding", {"FusedPass::gather"}},
      {"products", {"tile<"}},
      {"products", {"product<"}},
      {"loss", {"cross_entropy"}},
      {"loss", {"squared_loss"}},
      {"optimiser, packing", {"adam"}},
      {"optimiser, packing", {"sgd"}},
      {"optimiser, packing", {"sum_parts"}},
      {"optimiser, packing", {"pack"}},
  };
  return all;
}

std::string part_of(const std::string& function) {
  for (const Part& part : parts())
    if (std::all_of(part.words.begin(), part.words.end(),
                    [&](const char* word) { return function.find(word) != std::string::npos; }))
      return part.name;
  return kRest;
}

}  // namespace

void StepProfile::sample(const std::function<void()>& work) {
  noted.assign(std::size_t{1} << 16, {});
  noted_count = 0;
  {
    const Interruptions interruptions;
    work();
  }
  places_.insert(places_.end(), noted.begin(), noted.begin() + static_cast<std::ptrdiff_t>(noted_count.load()));
}

std::vector<std::pair<std::string, double>> StepProfile::shares() const {
  const std::vector<Function> functions = own_functions();
  if (functions.empty())
    throw Error(ErrorKind::failed, "this program has no symbols, so its time cannot be told apart", {},
                "build it without stripping it");
  const std::uintptr_t base = load_address();
  const auto find = [&](std::uintptr_t address) -> const Function* {
    const auto after = std::upper_bound(functions.begin(), functions.end(), address - base,
                                        [](std::uintptr_t at, const Function& f) { return at < f.begin; });
    return after != functions.begin() && address - base < std::prev(after)->end ? &*std::prev(after) : nullptr;
  };
  std::map<std::string, double> found;
  for (const Place& place : places_) {
    const Function* function = find(place.function);
    if (function == nullptr) function = find(place.caller);
    found[function == nullptr ? kRest : part_of(readable(function->name.c_str()))] += 1;
  }
  std::vector<std::pair<std::string, double>> result;
  for (const char* name :
       {"embedding", "LayerNorm", "products", "weight gradients", "attention", "loss", "optimiser, packing", kRest})
    result.emplace_back(name, found[name] / std::max(1.0, static_cast<double>(places_.size())));
  return result;
}

}  // namespace eureka
