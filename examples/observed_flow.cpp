// SPDX-License-Identifier: BSD-3-Clause

// A flow seen from outside: its spans for a collector of OpenTelemetry, and
// metrics for Prometheus.

#include <tertulia/config.hpp>
#include <tertulia/http_server.hpp>
#include <tertulia/metrics.hpp>
#include <tertulia/otlp_exporter.hpp>
#include <tertulia/runtime.hpp>

#include <chrono>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>

#include "scripted_server.hpp"

namespace {

tertulia::task<int> count(tertulia::context ctx, tertulia::input<int> in,
                          tertulia::output<int>) {
  int total = 0;
  while (const auto x = co_await in.next()) {
    const auto add = [&] { total += *x; };
    co_await ctx.run_step("add", add);
  }
  co_return total;
}

} // namespace

int main() {
  // Instead of a collector: it takes everything.
  const example::scripted_server collector{
    [](std::string_view) { return std::string{"data: {}\n\n"}; }};
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  tertulia::otlp_options options;
  options.service_name = "counter";
  options.collector.base_url = collector.url();
  // --(export-begin)--
  tertulia::otlp_exporter traces{rt, options};
  // --(export-end)--
  // --(numbers-begin)--
  tertulia::metrics numbers{rt};
  tertulia::http_server web{rt, {.metrics = numbers.reader()}};
  // --(numbers-end)--
  auto call = rt.define_bidi_flow("count", count).stream_bidi();
  call.send(2);
  call.send(3);
  call.close();
  std::cout << call.output() << '\n';
  traces.flush(std::chrono::seconds{10});
  std::cout << traces.count().sent << " spans\n";
  std::istringstream lines{numbers.text()};
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("tertulia_runs_total"))
      std::cout << line << '\n';
}
