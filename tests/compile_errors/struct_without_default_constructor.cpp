// SPDX-License-Identifier: BSD-3-Clause
// expect: struct_without_default_constructor<app::order>
// expect: a struct that is read from JSON needs a default constructor

#include <tertulia/runtime.hpp>

namespace app {

struct order {
  explicit order(std::string article) : article(std::move(article)) {}

  std::string article;
};

BOOST_DESCRIBE_STRUCT(order, (), (article))

tertulia::task<> take(tertulia::context, tertulia::input<order>,
                      tertulia::output<std::string>);

} // namespace app

void define(tertulia::runtime& rt) {
  rt.define_bidi_flow("orders", app::take);
}
