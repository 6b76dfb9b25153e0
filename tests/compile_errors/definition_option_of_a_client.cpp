// SPDX-License-Identifier: BSD-3-Clause
// expect: this option is one of a definition: it belongs to define_agent

#include <tertulia/agent_options.hpp>
#include <tertulia/bidi_action.hpp>

using echo = tertulia::bidi_action<int, int, int, int>;

void talk(const echo& to) {
  to.stream_bidi(tertulia::with_snapshot_callback(tertulia::snapshot_always{}));
}
