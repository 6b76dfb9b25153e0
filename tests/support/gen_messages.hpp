// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/message.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <rapidcheck.h>

// Rapidcheck generators of messages of every kind. The messages are short,
// because nested documents would otherwise grow without limit.

namespace tertulia::test {

/// Returns a generator of containers with at most four elements or entries,
/// whatever the size of the test case.
template <class Container, class... Ts>
rc::Gen<Container> few(rc::Gen<Ts>... gens) {
  return rc::gen::withSize([=](int size) {
    return rc::gen::resize(
      size / 25, rc::gen::container<Container>(rc::gen::resize(size, gens)...));
  });
}

/// Returns a generator of UTF-8 texts: all planes, and with a higher share of
/// characters that must be escaped.
inline rc::Gen<std::string> any_text() {
  const auto piece = rc::gen::oneOf(
    rc::gen::map(rc::gen::inRange(0, 0x80),
                 [](int c) { return std::string(1, static_cast<char>(c)); }),
    rc::gen::element<std::string>("\"", "\\", "\n", "é", "e\u0301", "\u07ff",
                                  "茶", "\u2028", "\uffff", "\U0001F600",
                                  "\U0010FFFF"));
  return rc::gen::map(few<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string result;
                        for (const auto& x : pieces)
                          result += x;
                        return result;
                      });
}

/// Returns a generator of documents with at most `levels` levels of arrays and
/// objects.
inline rc::Gen<json> any_json(int levels = 2) {
  const auto leaf = rc::gen::oneOf(
    rc::gen::just(json{}), rc::gen::cast<json>(rc::gen::arbitrary<bool>()),
    rc::gen::cast<json>(rc::gen::arbitrary<std::int64_t>()),
    rc::gen::cast<json>(rc::gen::arbitrary<std::uint64_t>()),
    rc::gen::element(json(9007199254740993), json(INT64_MIN), json(INT64_MAX),
                     json(UINT64_MAX), json(0.5), json(-1e300), json(1e-7)),
    rc::gen::cast<json>(any_text()));
  if (levels == 0)
    return leaf;
  const auto inner = any_json(levels - 1);
  return rc::gen::oneOf(
    leaf, rc::gen::cast<json>(few<std::vector<json>>(inner)),
    rc::gen::cast<json>(few<std::map<std::string, json>>(any_text(), inner)));
}

inline rc::Gen<ai::metadata_map> any_metadata() {
  return rc::gen::oneOf(rc::gen::just(ai::metadata_map{}),
                        few<ai::metadata_map>(any_text(), any_json(1)));
}

/// Returns a generator of parts that `make` creates from generated values.
template <class Make, class... Ts>
rc::Gen<ai::part> part_of(Make make, rc::Gen<Ts>... gens) {
  return rc::gen::map(rc::gen::tuple(std::move(gens)..., any_metadata()),
                      [make](const std::tuple<Ts..., ai::metadata_map>& all) {
                        return std::apply(
                          [&](const Ts&... xs, const ai::metadata_map& more) {
                            ai::part result = make(xs...);
                            result.metadata = more;
                            return result;
                          },
                          all);
                      });
}

inline rc::Gen<ai::part> any_part() {
  using ai::part;
  const auto object = rc::gen::cast<json>(
    few<std::map<std::string, json>>(any_text(), any_json(1)));
  return rc::gen::oneOf(
    part_of(part::text, any_text(), any_text()),
    part_of(part::media, any_text(), any_text()),
    part_of(part::request, any_text(), any_json(), any_text()),
    part_of(part::response, any_text(), any_json(), any_text()),
    part_of(part::data, any_json()), part_of(part::reasoning, any_text()),
    part_of(part::custom, object), part_of(part::resource, any_text()));
}

inline rc::Gen<ai::message> any_message() {
  const auto role = rc::gen::element(ai::role::system, ai::role::user,
                                     ai::role::model, ai::role::tool);
  const auto parts = few<std::vector<ai::part>>(any_part());
  return rc::gen::construct<ai::message>(role, parts, any_metadata());
}

} // namespace tertulia::test
