// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/uuid.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include <openssl/rand.h>
#include <pthread.h>
#include <uuid/uuid.h>

namespace tertulia {

namespace {

std::atomic<unsigned> forks = 0;

/// Random bytes for the next ids of a thread. `uuid_generate_random` takes 2.5
/// us per id, a tenth of a whole turn with its snapshot; most of that is the
/// system call.
class pool {
public:
  void take(uuid_t to) {
    if (left_ == 0 || forks_ != forks.load(std::memory_order_relaxed))
      fill();
    if (left_ == 0) {
      uuid_generate_random(to);
      return;
    }
    --left_;
    std::memcpy(to, &bytes_[left_ * sizeof(uuid_t)], sizeof(uuid_t));
    to[6] = static_cast<unsigned char>((to[6] & 0x0F) | 0x40); // version 4
    to[8] = static_cast<unsigned char>((to[8] & 0x3F) | 0x80); // variant
  }

private:
  static constexpr std::size_t size = 64;

  /// Leaves the pool empty if OpenSSL has no random bytes.
  void fill() {
    // A child process has the bytes of its parent and must not make the same
    // ids.
    static const auto watches_forks = pthread_atfork(nullptr, nullptr, [] {
      forks.fetch_add(1, std::memory_order_relaxed);
    });
    forks_ = forks.load(std::memory_order_relaxed);
    const auto is_filled
      = watches_forks == 0
        && RAND_bytes(bytes_.data(), static_cast<int>(bytes_.size())) == 1;
    left_ = is_filled ? size : 0;
  }

  std::array<unsigned char, size * sizeof(uuid_t)> bytes_{};
  std::size_t left_ = 0;
  unsigned forks_ = 0;
};

} // namespace

std::string make_uuid() {
  thread_local pool random;
  uuid_t id;
  random.take(id);
  std::string result(UUID_STR_LEN, '\0');
  uuid_unparse_lower(id, result.data());
  result.pop_back(); // the final zero
  return result;
}

} // namespace tertulia
