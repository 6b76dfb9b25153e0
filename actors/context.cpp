// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/context.hpp>
#include <tertulia/detail/environment.hpp>

namespace tertulia {

span context::start_span(const std::string& name) const {
  return owner_->env().traces.start(name, trace_->context());
}

} // namespace tertulia
