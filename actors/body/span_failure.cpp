// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/interrupt.hpp>
#include <tertulia/detail/span_failure.hpp>

namespace tertulia::detail {

void note_failure(span& to, const status_error& x) {
  if (to.context() == nullptr)
    return;
  if (ai::question_of(x))
    to.add_event("interrupted");
  else
    to.set_error(x.code(), x.message());
}

} // namespace tertulia::detail
