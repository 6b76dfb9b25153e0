// SPDX-License-Identifier: BSD-3-Clause
// expect: a conversation_client is that of a chat agent or a session flow; an

#include <tertulia/ai/conversation_client.hpp>
#include <tertulia/bidi_action.hpp>

using echo = tertulia::bidi_action<int, int, int, int>;

struct reader : tertulia::ai::conversation_client<echo> {
  using conversation_client::conversation_client;
};
