// SPDX-License-Identifier: BSD-3-Clause
// expect: the value or callback of this option does not fit the types of the

#include <tertulia/bidi_action.hpp>

using echo = tertulia::bidi_action<int, int, int, int>;

void talk(const echo& to) {
  to.stream_bidi(tertulia::with_init(std::string{"no number"}));
}
