// SPDX-License-Identifier: BSD-3-Clause
// expect: an actor_client is that of a handle, such as bidi_flow<...>

#include <tertulia/actor_client.hpp>

struct reader : tertulia::actor_client<std::string> {
  using actor_client::actor_client;
};
