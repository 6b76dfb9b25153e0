// SPDX-License-Identifier: BSD-3-Clause

// Streams that are longer than what waits for a socket.

#include <string>

#include "support/effort.hpp"
#include "support/web_fixture.hpp"

namespace tertulia::test::long_stream_tests {

using web_streams = web;

// The client of a run stops when much waits to be written, which may be before
// the answer to the opening is read.
TEST_F(web_streams, may_be_long_before_they_are_read) {
  rt.define_bidi_flow("writer",
                      [](context, input<int>,
                         output<std::string> out) -> task<std::string> {
                        for (int i = 0; i < 400; ++i)
                          co_await out.send(std::string(1'000, 'x'));
                        co_return "done";
                      });
  auto at = serve();
  for (int i = 0; i < by_effort(10, 60, 60); ++i) {
    EXPECT_EQ(at.call("POST", "/actions/bidi-flow/writer").document()["output"],
              "done");
    EXPECT_EQ(at.call("POST", "/genkit/bidi-flow/writer", "{}").body,
              R"({"result":"done"})");
  }
}

} // namespace tertulia::test::long_stream_tests
