// SPDX-License-Identifier: BSD-3-Clause

// Values instead of text: a model reads receipts, into a struct of this program
// or by a schema that is known only at run time.

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/generate.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/schema_check.hpp>

#include <initializer_list>
#include <iostream>
#include <string>
#include <utility>

#include "scripted_model.hpp"

namespace ai = tertulia::ai;

// Stands in for a hosted model. The amount in its first answer is a text; it
// receives the error and answers again.
const example::scripted_model script{{
  {"$.amount: expected a number", ai::model_text(R"(```json
{"what":"Hotel Alpina","amount":200,"currency":"CHF"}
```)")},
  {"Read this: Hotel", ai::model_text(R"({"what":"Hotel Alpina",)"
                                      R"("amount":"200.-","currency":"CHF"})")},
  {"Read this: Tram",
   ai::model_text(R"({"what":"Tram","amount":4.6,"currency":"EUR"})")},
  {"Fill in: Hotel", ai::model_text(R"({"guest":"Ada","nights":2})")},
}};

// --(typed-begin)--
struct expense {
  std::string what;
  double amount = 0;
  std::string currency;
};

BOOST_DESCRIBE_STRUCT(expense, (), (what, amount, currency))

auto define_reader(tertulia::runtime& rt, const ai::prompt& clerk) {
  return rt.define_bidi_flow(
    "reader",
    [clerk](tertulia::context ctx, tertulia::input<std::string> receipts,
            tertulia::output<expense> out) -> tertulia::task<> {
      while (const auto text = co_await receipts.next()) {
        auto read = co_await ai::generate<expense>(
          ctx, clerk, ai::with_user_text("Read this: " + *text),
          ai::with_repairs(1));
        co_await out.send(read);
      }
    });
}
// --(typed-end)--

// --(option-begin)--
/// An option of one's own, made of others.
struct with_care {
  void apply(ai::generate_options& to) const {
    ai::with_system("You read receipts, twice.").apply(to);
    ai::with_repairs(3).apply(to);
    to.config.temperature = 0;
  }
};

static_assert(ai::generate_option<with_care>);
// --(option-end)--

// --(schema-begin)--
auto define_form_filler(tertulia::runtime& rt, const ai::prompt& clerk) {
  return rt.define_bidi_flow(
    "form-filler",
    [clerk](tertulia::context ctx, tertulia::json form,
            tertulia::input<std::string> receipts,
            tertulia::output<tertulia::json> out) -> tertulia::task<> {
      while (const auto text = co_await receipts.next()) {
        auto made
          = co_await ai::generate(ctx, clerk,
                                  ai::with_user_text("Fill in: " + *text),
                                  ai::with_output_schema(form), with_care());
        co_await out.send(std::move(made.output));
      }
    });
}
// --(schema-end)--

template <class Talk>
void show(Talk talk, std::initializer_list<const char*> receipts) {
  for (const auto* x : receipts)
    talk.send(x);
  talk.close();
  for (const auto& x : talk.responses())
    std::cout << tertulia::to_json_text(x) << '\n';
}

int main() {
  tertulia::config cfg;
  caf::actor_system system{cfg};
  tertulia::runtime rt{system};
  const auto model = ai::define_model(rt, "script", script);

  // --(prompt-begin)--
  ai::model_config sober;
  sober.temperature = 0;
  sober.top_p = 0.9;
  sober.top_k = 40;
  sober.max_output_tokens = 200;
  sober.stop_sequences.emplace_back("---");
  sober.custom["seed"] = 7; // what only this model understands
  const ai::prompt clerk{model, ai::with_system("You read receipts."),
                         ai::with_config(sober)};
  // --(prompt-end)--

  const auto* const alpina = "Hotel Alpina, Ada, 2 nights, 200.- francs";
  const auto reader = define_reader(rt, clerk);
  show(reader.stream_bidi(), {alpina, "Tram, 4.60 euros"});

  // --(form-begin)--
  const auto form = tertulia::parse_json<tertulia::json>(R"({
    "type": "object",
    "properties": {
      "guest": {"type": "string"},
      "nights": {"type": "integer", "minimum": 1}
    },
    "required": ["guest", "nights"]
  })");
  const auto filler = define_form_filler(rt, clerk);
  show(filler.stream_bidi(tertulia::with_init(form)), {alpina});

  // Somebody has written another one by hand. A check ends, whatever the schema
  // says: after so many steps, or more if the value is that large.
  static_assert(tertulia::max_schema_steps >= 100'000);
  try {
    tertulia::check_schema({{"guest", "Ada"}, {"nights", 0}}, form);
  } catch (const tertulia::status_error& x) {
    std::cout << x.what() << '\n';
  }
  // --(form-end)--
}
