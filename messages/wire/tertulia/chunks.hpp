// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json_value.hpp>

#include <boost/container/small_vector.hpp>

namespace tertulia {

/// Chunks of one batch, as a payload stores them inside a process. The first
/// chunk lies in the payload's own allocation, so a batch of one chunk needs no
/// other allocation. An array in JSON.
template <class T>
using chunks = boost::container::small_vector<T, 1>;

template <class T>
inline constexpr bool
  detail::is_vector<boost::container::small_vector<T, 1>> = true;

} // namespace tertulia
