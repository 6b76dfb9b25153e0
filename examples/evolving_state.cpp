// SPDX-License-Identifier: BSD-3-Clause

// Migrates a state that was stored by an older program to the current version.

#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/memory_store.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/type_version.hpp>

#include <iostream>
#include <string>
#include <vector>

namespace last_year {

struct memo {
  std::vector<std::string> said;
};

BOOST_DESCRIBE_STRUCT(memo, (), (said))

} // namespace last_year

template <>
inline constexpr tertulia::type_version tertulia::version_of<last_year::memo>{
  "app.memo", 1};

// --(version-begin)--
struct memo {
  std::vector<std::string> said;
  std::string language; // new in version 2
};

BOOST_DESCRIBE_STRUCT(memo, (), (said, language))

template <>
inline constexpr tertulia::type_version tertulia::version_of<memo>{"app.memo",
                                                                   2};
// --(version-end)--

namespace {

template <class Memo>
tertulia::task<> keep(tertulia::context, tertulia::agent_session<Memo> sess,
                      tertulia::input<std::string> in,
                      tertulia::agent_responder<std::string> out) {
  while (auto text = co_await in.next()) {
    co_await sess.update([&](Memo& x) { x.said.push_back(*text); });
    co_await out.end_turn();
  }
}

/// Stores a session as the program of last year did.
void leave_a_session(caf::actor_system& system,
                     const tertulia::snapshot_store& store) {
  tertulia::runtime rt{system};
  auto agent = tertulia::define_agent(rt, "memo", keep<last_year::memo>,
                                      tertulia::with_snapshot_store(store));
  auto talk = agent.stream_bidi(tertulia::with_session_id("mine"));
  talk.send("buy tea");
  talk.close();
  talk.output();
}

} // namespace

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  const auto store = tertulia::spawn_memory_store(system);
  leave_a_session(system, store);

  tertulia::runtime rt{system};
  // --(migration-begin)--
  auto agent = tertulia::define_agent(
    rt, "memo", keep<memo>, tertulia::with_snapshot_store(store),
    // from version 1 to 2
    tertulia::with_migration(1,
                             [](tertulia::json& x) { x["language"] = "en"; }));
  // --(migration-end)--

  auto talk = agent.stream_bidi(tertulia::with_session_id("mine"));
  talk.send("drink it");
  talk.close();
  std::cout << tertulia::to_json_text(talk.output().state) << '\n';
}
