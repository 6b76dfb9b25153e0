// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/prompt.hpp>

#include <fmt/format.h>

namespace tertulia::ai {

void with_tools::apply(generate_options& to) const {
  for (const auto& x : tools) {
    for (const auto& other : to.tools)
      if (other.info().name == x.info().name)
        throw status_error{errc::invalid_argument,
                           fmt::format("two tools have the name {}",
                                       x.info().name)};
    to.tools.push_back(x);
  }
}

} // namespace tertulia::ai

namespace tertulia::detail {

template any_model any_model_of<ai::model>(ai::model);

} // namespace tertulia::detail
