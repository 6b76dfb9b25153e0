// SPDX-License-Identifier: BSD-3-Clause
// expect: type_without_json<trip>

#include <tertulia/ai/custom_view.hpp>

struct trip {
  std::string city;
};

bool show(const tertulia::ai::stream_chunk<tertulia::nothing>& chunk) {
  return tertulia::ai::custom_view<trip>{}.apply(chunk);
}
