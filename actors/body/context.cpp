// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/context.hpp>

namespace tertulia {

span context::start_span(const std::string& name) const {
  return owner_->services().traces.start(name, trace_->context());
}

} // namespace tertulia
