// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/json_path.hpp>
#include <tertulia/trace.hpp>

#include <cstddef>
#include <exception>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace tertulia::detail {

/// Changes a value before it is recorded; see `runtime_options::redact_span`.
using redaction = std::function<void(std::string_view attribute, json& value)>;

/// Records inputs and outputs on spans, redacted and limited in size.
///
/// Tracing must not change the outcome of the work: a value that cannot be
/// recorded becomes an event of the span.
///
/// @threads all members.
class span_values {
public:
  /// @param redact null: values are recorded as they are.
  /// @param max    size in bytes behind which a value is cut; 0: nothing is
  ///               recorded.
  span_values(redaction redact, std::size_t max)
    : redact_(std::move(redact)), max_(max) {}

  /// Records a value if the span records.
  /// @param make returns the value as JSON text.
  template <class Make>
  void record(span& to, std::string_view attribute, Make make) const {
    if (to.context() == nullptr || max_ == 0)
      return;
    try {
      put(to, attribute, make());
    } catch (const std::exception& failure) {
      note(to, attribute, failure.what());
    } catch (...) {
      note(to, attribute, "an exception that is not a std::exception");
    }
  }

private:
  void put(span& to, std::string_view attribute, std::string text) const;

  static void note(span& to, std::string_view attribute, std::string_view why) {
    to.add_event("value not recorded",
                 {{"attribute", attribute}, {"why", why}});
  }

  redaction redact_;
  std::size_t max_;
};

} // namespace tertulia::detail
