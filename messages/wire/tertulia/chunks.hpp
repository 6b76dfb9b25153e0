// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>
#include <tertulia/schema.hpp>

#include <string>
#include <utility>

#include <boost/container/small_vector.hpp>

namespace tertulia {

/// Chunks of one batch, as a payload stores them inside a process. The first
/// chunk lies in the payload's own allocation, so a batch of one chunk needs no
/// other allocation. An array in JSON.
template <class T>
using chunks = boost::container::small_vector<T, 1>;

template <class T>
struct json_codec<boost::container::small_vector<T, 1>> {
  static void write(std::string& out, const chunks<T>& x,
                    const json_path& path) {
    detail::write_array(out, x, path);
  }

  static chunks<T> read(const json& from, const json_path& path) {
    if (!from.is_array())
      raise_mismatch(path, "an array", from);
    chunks<T> result;
    result.reserve(from.size());
    for (std::size_t i = 0; i < from.size(); ++i)
      result.push_back(detail::read_value<T>(from[i], json_path{path, i}));
    return result;
  }

  static json schema() {
    return detail::nested_schema_of<std::vector<T>>();
  }
};

} // namespace tertulia
