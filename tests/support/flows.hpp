// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/descriptor.hpp>

#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "support/deterministic.hpp"
#include "support/recording_client.hpp"

namespace tertulia::test {

/// Fixture with a deterministic runtime whose tests define bodies in place.
class flows : public deterministic {
protected:
  template <class Body>
  auto define(Body body) {
    return rt->define_bidi_flow("flow" + std::to_string(++defined_),
                                std::move(body));
  }

  /// Opens a connection to a flow with this body.
  template <class Body, class... Options>
  auto open_to(Body body, const Options&... options) {
    return open(define(std::move(body)), options...);
  }

  /// Opens a connection to a flow with this body, which uses neither inputs nor
  /// chunks.
  template <class Body>
  auto open_body(Body body) {
    const auto run = [body](context ctx, input<int>, output<int>) //
      -> decltype(body(ctx)) { return body(ctx); };
    return open(define(run));
  }

private:
  int defined_ = 0;
};

/// Returns the numbers from 0 up to, but excluding, `count`.
inline std::vector<int> numbers(int count) {
  std::vector<int> result(static_cast<std::size_t>(count));
  std::iota(result.begin(), result.end(), 0);
  return result;
}

/// Increments a counter when a scope is left, in whichever way.
class departure {
public:
  explicit departure(int& left) noexcept : left_(&left) {}

  departure(departure&& other) noexcept
    : left_(std::exchange(other.left_, nullptr)) {}

  departure& operator=(departure&&) = delete;

  ~departure() {
    if (left_ != nullptr)
      ++*left_;
  }

private:
  int* left_;
};

} // namespace tertulia::test
