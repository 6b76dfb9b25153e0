// SPDX-License-Identifier: BSD-3-Clause
// expect: type_without_json<app::order>
// expect: describe a struct with BOOST_DESCRIBE_STRUCT

#include <tertulia/runtime.hpp>

namespace app {

struct order {
  std::string article;
};

tertulia::task<> take(tertulia::context, tertulia::input<order>,
                      tertulia::output<std::string>);

} // namespace app

void define(tertulia::runtime& rt) {
  rt.define_bidi_flow("orders", app::take);
}
