// SPDX-License-Identifier: BSD-3-Clause
// expect: the body of a bidi action is a coroutine task<Out>(context, Init,

#include <tertulia/runtime.hpp>

tertulia::task<> take(tertulia::input<std::string>,
                      tertulia::output<std::string>);

void define(tertulia::runtime& rt) {
  rt.define_bidi_flow("orders", take);
}
