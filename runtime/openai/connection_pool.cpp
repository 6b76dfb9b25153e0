// SPDX-License-Identifier: BSD-3-Clause

#include "connection_pool.hpp"

#include <utility>

namespace tertulia::openai {

namespace {

/// Servers close idle connections after a minute or so.
constexpr std::chrono::seconds freshness{30};

} // namespace

std::unique_ptr<connection> connection_pool::take() {
  if (idle_.empty())
    return nullptr;
  auto result = std::move(idle_.back());
  idle_.pop_back();
  if (std::chrono::steady_clock::now() - result->idle_since > freshness) {
    idle_.clear(); // all others are older
    return nullptr;
  }
  return result;
}

void connection_pool::give(std::unique_ptr<connection> x) {
  if (idle_.size() >= max_size_)
    return;
  x->idle_since = std::chrono::steady_clock::now();
  idle_.push_back(std::move(x));
}

} // namespace tertulia::openai
