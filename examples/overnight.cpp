// SPDX-License-Identifier: BSD-3-Clause

// Work that goes on overnight: a client leaves its inputs with a run and goes
// home. In the morning it finds out how far the run has come, and hears all.

#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::literals;

namespace ai = tertulia::ai;

auto define_reader(tertulia::runtime& rt,
                   const tertulia::managed_store& store) {
  return ai::define_session_flow(
    rt, "reader",
    [](tertulia::context ctx, ai::flow_session<int> sess,
       ai::flow_responder<tertulia::nothing> out) -> tertulia::task<> {
      co_await sess.run_turns(
        ctx,
        [&](tertulia::context inner,
            const ai::conversation_input& input) -> tertulia::task<> {
          co_await inner.sleep(10ms); // these are thick books
          co_await sess.patch_custom([](int& books) { ++books; });
          co_await out.send_text("read " + input.messages.back().text());
        });
    },
    tertulia::with_snapshot_store(store));
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto store = tertulia::spawn_memory_store(system);
  const auto reader = define_reader(rt, store);

  // --(evening-begin)--
  auto evening = reader.stream_bidi(tertulia::with_session_id("library"),
                                    tertulia::with_keep(),
                                    tertulia::with_input_window(10));
  for (const auto* book : {"Don Quixote", "Middlemarch", "Ulysses"})
    evening.send_text(book);
  evening.close();
  const tertulia::cursor place = evening.detach();
  // --(evening-end)--

  // --(morning-begin)--
  auto morning = reader.stream_bidi(tertulia::with_cursor(place));
  do {
    for (const auto& item : morning.responses())
      if (item.chunk)
        std::cout << item.chunk->text() << '\n';
  } while (!morning.finished());
  std::cout << morning.output().state.custom << " books\n";
  // --(morning-end)--

  // --(store-begin)--
  const auto kept = tertulia::ask_store(
    system, store, tertulia::get_run_request{{reader.info().key, place.run}});
  std::cout << "the run is "
            << (kept.status == tertulia::run_status::completed ? "" : "not ")
            << "completed\n";
  // --(store-end)--
}
