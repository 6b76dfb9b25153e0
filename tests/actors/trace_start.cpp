// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/trace.hpp>

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tertulia::test::trace_start_tests {

TEST(trace_start, a_sink_knows_the_first_attributes_at_the_start) {
  struct at_start : span_sink {
    void on_start(const span_data& x) noexcept override {
      attributes = x.attributes;
    }
    void on_end(std::shared_ptr<const span_data>) noexcept override {}
    std::vector<attribute> attributes;
  };
  tracer spans;
  const auto sink = std::make_shared<at_start>();
  const auto listening = spans.listen(sink);
  const std::vector<attribute_ref> first{{"key", "/flow/x"}, {"root", true}};
  const auto x = spans.start("work", nullptr, first);
  const std::vector<attribute> expected{{"key", std::string{"/flow/x"}},
                                        {"root", true}};
  EXPECT_EQ(sink->attributes, expected);
}

} // namespace tertulia::test::trace_start_tests
