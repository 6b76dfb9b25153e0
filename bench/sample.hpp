// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/context.hpp>
#include <tertulia/input.hpp>
#include <tertulia/output.hpp>
#include <tertulia/task.hpp>

#include <string>
#include <utility>

namespace tertulia::bench {

/// Returns the sample value of a type. Applications send text, so the rows of
/// the table use it.
template <class T>
T sample();

template <>
inline std::string sample<std::string>() {
  return "hello";
}

template <>
inline int sample<int>() {
  return 42;
}

/// Returns every input as a chunk.
template <class T>
task<> echo(context, input<T> in, output<T> out) {
  while (auto x = co_await in.next())
    co_await out.send(std::move(*x));
}

} // namespace tertulia::bench
