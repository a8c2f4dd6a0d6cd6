#include "kernels/buffer.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace eureka {
namespace {

constexpr std::size_t kLine = kPanel * sizeof(float), kHugePage = std::size_t{2} << 20;

// Under the address sanitizer every buffer stands alone, so that it sees a step over the end.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kShared = 0;
#else
constexpr std::size_t kShared = 2 * kHugePage;
#endif

std::shared_ptr<void> allocate(std::size_t bytes, std::size_t unit) {
  void* memory = std::aligned_alloc(unit, round_up(bytes, unit));
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  // The end of a buffer stays in small pages: a huge one would take up memory that nobody uses.
  if (unit == kHugePage) madvise(memory, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
#endif
  return {memory, [](void* at) { std::free(at); }};
}

std::atomic<std::size_t> alive{0};

struct SharedPages {
  std::shared_ptr<void> memory;
  std::size_t used = kShared;
};

}  // namespace

std::size_t Buffer::bytes(std::size_t floats) { return round_up((floats + kPanel) * sizeof(float), kLine); }

std::size_t Buffer::bytes_alive() { return alive.load(std::memory_order_relaxed); }

void Buffer::Release::operator()(float*) const { alive.fetch_sub(bytes, std::memory_order_relaxed); }

Buffer::Buffer(std::size_t floats) : size_(floats) {
  const std::size_t bytes = Buffer::bytes(floats);
  thread_local SharedPages shared;
  if (bytes > kShared / 2) {
    auto own = allocate(bytes, kShared == 0 ? kLine : kHugePage);
    data_ = {static_cast<float*>(own.get()), Release{own, bytes}};
  } else {
    if (shared.used + bytes > kShared) shared = {allocate(kShared, kHugePage), 0};
    data_ = {reinterpret_cast<float*>(static_cast<char*>(shared.memory.get()) + shared.used),
             Release{shared.memory, bytes}};
    shared.used += bytes;
  }
  alive.fetch_add(bytes, std::memory_order_relaxed);
  std::memset(data_.get(), 0, bytes);
}

}  // namespace eureka
