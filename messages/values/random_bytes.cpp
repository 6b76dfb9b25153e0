// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/random_bytes.hpp>
#include <tertulia/status_error.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <pthread.h>
#include <unistd.h>

namespace tertulia::detail {

namespace {

std::atomic<unsigned> forks = 0;

/// Random bytes of a thread for later calls: a system call for each id of 16
/// bytes takes 2.5 us, a tenth of a whole turn with its snapshot.
class pool {
public:
  void take(std::span<std::uint8_t> to) {
    if (left_ < to.size() || forks_ != forks.load(std::memory_order_relaxed))
      fill();
    left_ -= to.size();
    std::memcpy(to.data(), &bytes_[left_], to.size());
  }

private:
  void fill() {
    // A child process has the bytes of its parent and must not use them.
    static const auto watches_forks = pthread_atfork(nullptr, nullptr, [] {
      forks.fetch_add(1, std::memory_order_relaxed);
    });
    forks_ = forks.load(std::memory_order_relaxed);
    left_ = 0;
    if (watches_forks != 0 || ::getentropy(bytes_.data(), bytes_.size()) != 0)
      throw status_error{errc::internal, "the system has no random bytes"};
    left_ = bytes_.size();
  }

  /// As many as `getentropy` returns at once.
  std::array<std::uint8_t, 256> bytes_{};
  std::size_t left_ = 0;
  unsigned forks_ = 0;
};

} // namespace

void random_bytes(std::span<std::uint8_t> to) {
  thread_local pool random;
  random.take(to);
}

double random_fraction() {
  std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
  random_bytes(bytes);
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), bytes.size());
  // A double has 53 bits: more would round up to 1.
  return static_cast<double>(number >> 11u) * 0x1p-53;
}

} // namespace tertulia::detail
