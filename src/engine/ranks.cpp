#include "engine/ranks.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "base/error.h"

namespace eureka {
namespace {

constexpr int kLargestPort = 65535;
// Ports of Slurm's jobs: above those of services, below those that Linux hands out by itself.
constexpr std::int64_t kFirstPort = 20000, kPorts = 10000;

std::string text_of(const Environment& variable, const char* name) {
  const char* value = variable(name);
  return value == nullptr ? "" : value;
}

std::int64_t number_of(const Environment& variable, const char* name, std::int64_t least, std::int64_t most,
                       const char* who) {
  const std::string text = text_of(variable, name);
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || end != text.data() + text.size() || number < least || number > most)
    throw Error(ErrorKind::usage,
                text.empty() ? fmt::format("{} is not set, but other variables of {} are", name, who)
                             : fmt::format("{} is '{}', not a number from {} to {}", name, text, least, most),
                {}, fmt::format("{} sets it; docs/ranks.md says what each process is told", who));
  return number;
}

// "gpu[03-05,7],login1" begins with gpu03.
std::string first_host(const std::string& list) {
  const std::size_t bracket = list.find('['), comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  const std::size_t end = list.find_first_of("-,]", bracket), close = list.find(']', bracket);
  if (close == std::string::npos) return list.substr(0, bracket);
  const std::size_t next = list.find(',', close);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) +
         list.substr(close + 1, next == std::string::npos ? next : next - close - 1);
}

template <class Value>
void take(const std::vector<Value>& from, std::int64_t samples, const BatchShare& share, std::vector<Value>& to) {
  const auto each = static_cast<std::ptrdiff_t>(from.size()) / std::max<std::ptrdiff_t>(1, samples);
  const auto begin = from.begin() + share.first * each;
  to.assign(begin, begin + share.count * each);
}

}  // namespace

std::optional<RankPlace> place_in_environment(const Environment& variable) {
  constexpr const char* kWho = "torchrun";
  if (text_of(variable, "WORLD_SIZE").empty()) return std::nullopt;
  RankPlace place;
  place.size = static_cast<int>(number_of(variable, "WORLD_SIZE", 1, 1 << 20, kWho));
  if (place.size == 1) return std::nullopt;
  place.rank = static_cast<int>(number_of(variable, "RANK", 0, place.size - 1, kWho));
  if (!text_of(variable, "LOCAL_RANK").empty())
    place.local_rank = static_cast<int>(number_of(variable, "LOCAL_RANK", 0, place.size - 1, kWho));
  place.address = text_of(variable, "MASTER_ADDR");
  if (place.address.empty()) place.address = "127.0.0.1";
  // What it listens at it speaks as its own release of torch does, which need not be ours.
  const bool taken = text_of(variable, "TORCHELASTIC_USE_AGENT_STORE") == "True";
  place.port = static_cast<int>(number_of(variable, "MASTER_PORT", 1, kLargestPort - 1, kWho)) + (taken ? 1 : 0);
  return place;
}

std::optional<RankPlace> place_in_slurm(const Environment& variable) {
  constexpr const char* kWho = "srun";
  RankPlace place;
  place.size = static_cast<int>(number_of(variable, "SLURM_NTASKS", 1, 1 << 20, kWho));
  if (place.size == 1) return std::nullopt;
  place.rank = static_cast<int>(number_of(variable, "SLURM_PROCID", 0, place.size - 1, kWho));
  place.local_rank = static_cast<int>(number_of(variable, "SLURM_LOCALID", 0, place.size - 1, kWho));
  place.address = text_of(variable, "MASTER_ADDR");
  for (const char* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"})
    if (place.address.empty()) place.address = first_host(text_of(variable, name));
  if (!text_of(variable, "MASTER_PORT").empty())
    place.port = static_cast<int>(number_of(variable, "MASTER_PORT", 1, kLargestPort, kWho));
  else
    place.port =
        static_cast<int>(kFirstPort + number_of(variable, "SLURM_JOB_ID", 0, std::int64_t{1} << 40, kWho) % kPorts);
  return place;
}

RankPlace place_on_this_machine(int rank, int size, int port) {
  return {.rank = rank, .size = size, .local_rank = rank, .address = "127.0.0.1", .port = port};
}

int free_port() {
  const int any = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = any >= 0 && ::bind(any, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     ::getsockname(any, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  if (any >= 0) ::close(any);
  if (!found) throw Error(ErrorKind::failed, "this machine has no free port for its processes to meet at");
  return ::ntohs(address.sin_port);
}

BatchShare share_of(std::int64_t samples, int rank, int size) {
  const std::int64_t first = samples * rank / size;
  return {first, samples * (rank + 1) / size - first};
}

void take_share(const Batch& batch, const BatchShare& share, Batch& out) {
  out.samples = share.count;
  take(batch.inputs, batch.samples, share, out.inputs);
  take(batch.ids, batch.samples, share, out.ids);
  take(batch.labels, batch.samples, share, out.labels);
  take(batch.targets, batch.samples, share, out.targets);
  take(batch.asked, batch.samples, share, out.asked);
  take(batch.visible, batch.samples, share, out.visible);
  take(batch.wanted, batch.samples, share, out.wanted);
}

}  // namespace eureka
