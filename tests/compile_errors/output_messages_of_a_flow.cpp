// SPDX-License-Identifier: BSD-3-Clause
// expect: the value or callback of this option does not fit the types of the

#include <tertulia/ai/conversation_handle.hpp>

using echo = tertulia::bidi_action<int, int, int, int>;

void talk(const echo& to) {
  to.stream_bidi(tertulia::ai::with_output_messages{1});
}
