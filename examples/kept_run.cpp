// SPDX-License-Identifier: BSD-3-Clause

// A run that outlives its client: one client starts the work and leaves,
// another one hears the rest, and a third one only watches.

#include <tertulia/runtime.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::literals;

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};

  const auto survey = rt.define_bidi_flow(
    "survey",
    [](tertulia::context ctx, tertulia::input<int> in,
       tertulia::output<std::string> out) -> tertulia::task<int> {
      int rooms = 0;
      while (const auto floor = co_await in.next()) {
        for (int room = 1; room <= 3; ++room, ++rooms) {
          co_await ctx.sleep(10ms); // somebody has to walk there
          co_await out.send("room " + std::to_string(*floor * 100 + room));
        }
        co_await out.end_turn();
      }
      co_return rooms;
    });

  // --(detach-begin)--
  auto morning = survey.stream_bidi(tertulia::with_keep(12h));
  morning.send(4);
  for (const auto& line : morning.responses()) {
    std::cout << "morning: " << line << '\n';
    break;
  }
  const tertulia::cursor place = morning.detach();
  // --(detach-end)--

  // --(attach-begin)--
  auto evening = survey.stream_bidi(tertulia::with_cursor(place));
  for (const auto& line : evening.responses())
    std::cout << "evening: " << line << '\n';
  // --(attach-end)--

  // --(watch-begin)--
  auto watcher = survey.stream_bidi(tertulia::with_cursor({place.run, 0}),
                                    tertulia::as_listener{});
  evening.send(5);
  evening.close();
  do {
    for (const auto& line : watcher.responses())
      std::cout << "watcher: " << line << '\n';
  } while (!watcher.finished());
  std::cout << watcher.output() << " rooms\n";
  // --(watch-end)--
}
