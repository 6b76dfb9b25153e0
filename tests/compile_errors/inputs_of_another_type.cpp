// SPDX-License-Identifier: BSD-3-Clause
// expect: the inputs are of another type than those of the action

#include <tertulia/bidi_action.hpp>

using echo = tertulia::bidi_action<int, int, int, int>;

void talk(const echo& to) {
  to.stream_bidi(tertulia::with_inputs("no number"));
}
