// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>
#include <tertulia/json.hpp>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include <boost/mp11/algorithm.hpp>

namespace tertulia::ai {

/// Metadata that programs attach to parts, messages and artifacts: sorted by
/// name.
using metadata_map = std::map<std::string, json>;

// -- the kinds of parts -------------------------------------------------------

/// Text, plain unless its content type differs.
struct text_part {
  text_part() = default;

  explicit text_part(std::string text, std::string content_type = {})
    : text(std::move(text)), content_type(std::move(content_type)) {}

  std::string text;

  /// A MIME type; empty for plain text.
  std::string content_type;

  friend bool operator==(const text_part&, const text_part&) = default;
};

/// A picture, a sound or a film: by its address, or inside a `data:` URL.
struct media_part {
  media_part() = default;

  explicit media_part(std::string url, std::string content_type = {})
    : content_type(std::move(content_type)), url(std::move(url)) {}

  /// A MIME type; empty if it is not known.
  std::string content_type;

  std::string url;
};

BOOST_DESCRIBE_STRUCT(media_part, (), (content_type, url))

/// Request of a model to run a tool.
struct tool_request {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  tool_request() = default;

  explicit tool_request(std::string name, json input = {}, std::string ref = {})
    : name(std::move(name)), ref(std::move(ref)), input(std::move(input)) {}

  std::string name;

  /// Distinguishes requests of one message; empty if the model sets none.
  std::string ref;

  json input;
};

BOOST_DESCRIBE_STRUCT(tool_request, (), (name, ref, input))

/// Output of a tool.
struct tool_response {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  tool_response() = default;

  explicit tool_response(std::string name, json output = {},
                         std::string ref = {})
    : name(std::move(name)), ref(std::move(ref)), output(std::move(output)) {}

  std::string name;

  /// The `ref` of the request.
  std::string ref;

  json output;
};

BOOST_DESCRIBE_STRUCT(tool_response, (), (name, ref, output))

/// Value of any shape, also `null`.
struct data_part {
  // NOLINTNEXTLINE(bugprone-exception-escape): making JSON asserts
  data_part() = default;

  explicit data_part(json data) : data(std::move(data)) {}

  json data;

  friend bool operator==(const data_part&, const data_part&) = default;
};

/// Reasoning of a model on the way to its answer.
struct reasoning_part {
  reasoning_part() = default;

  explicit reasoning_part(std::string reasoning)
    : reasoning(std::move(reasoning)) {}

  std::string reasoning;

  friend bool operator==(const reasoning_part&, const reasoning_part&)
    = default;
};

/// Content that only a certain model or program understands.
struct custom_part {
  custom_part() = default;

  explicit custom_part(json custom) : custom(std::move(custom)) {}

  /// An object: any other value cannot be written.
  json custom = json::object();

  friend bool operator==(const custom_part&, const custom_part&) = default;
};

/// Resource that is fetched by its address when it is needed.
struct resource_part {
  resource_part() = default;

  explicit resource_part(std::string uri) : uri(std::move(uri)) {}

  std::string uri;
};

BOOST_DESCRIBE_STRUCT(resource_part, (), (uri))

// -- a part -------------------------------------------------------------------

/// Piece of a message, of exactly one of the kinds above.
///
/// In JSON exactly as Genkit writes it: an object with one member that names
/// the kind, followed by `metadata` unless that is empty.
///
/// ```
/// {"text":"…"}  or  {"text":"…","contentType":"…"}
/// {"media":{"contentType":"…","url":"…"}}
/// {"toolRequest":{"name":"…","ref":"…","input":…}}
/// {"toolResponse":{"name":"…","ref":"…","output":…}}
/// {"data":…}
/// {"reasoning":"…"}
/// {"custom":{…}}
/// {"resource":{"uri":"…"}}
/// ```
///
/// An empty `contentType` or `ref` and a null `input` or `output` are left out.
/// Integers from -2^63 up to 2^64 - 1 keep their value anywhere in a part.
///
/// @errors  `invalid_argument` with the path: on reading, for an object that
///          names no kind or more than one; on writing, for a `custom` that is
///          not an object.
/// @threads a value.
/// @design  docs/genkit.md 003 §1.1, 004 §1.1: `[]*ai.Part`. Differs from Go,
///          where a part has a field for each kind and may have several set.
struct part {
  /// In the order of the enumerators of `kind`.
  using value_type
    = std::variant<text_part, media_part, tool_request, tool_response,
                   data_part, reasoning_part, custom_part, resource_part>;

  /// Makes an empty text.
  part();

  /// Makes a part of any kind; not explicit, so that lists of parts read well.
  template <class T>
  requires boost::mp11::mp_contains<value_type, T>::value
  part(T value, metadata_map metadata = {})
    : value(std::move(value)), metadata(std::move(metadata)) {}

  // -- factories --------------------------------------------------------------

  [[nodiscard]] static part text(std::string text,
                                 std::string content_type = {});

  [[nodiscard]] static part media(std::string url,
                                  std::string content_type = {});

  [[nodiscard]] static part request(std::string name, json input = {},
                                    std::string ref = {});

  [[nodiscard]] static part response(std::string name, json output = {},
                                     std::string ref = {});

  [[nodiscard]] static part data(json data);

  [[nodiscard]] static part reasoning(std::string reasoning);

  /// @pre `custom` is an object.
  [[nodiscard]] static part custom(json custom);

  [[nodiscard]] static part resource(std::string uri);

  // -- access -----------------------------------------------------------------

  enum class kind {
    text,
    media,
    tool_request,
    tool_response,
    data,
    reasoning,
    custom,
    resource,
  };

  [[nodiscard]] kind which() const noexcept {
    return static_cast<kind>(value.index());
  }

  /// Each returns null if the part is of another kind; `value` is for changes
  /// and for `std::visit`.
  [[nodiscard]] const text_part* as_text() const noexcept;
  [[nodiscard]] const media_part* as_media() const noexcept;
  [[nodiscard]] const tool_request* as_request() const noexcept;
  [[nodiscard]] const tool_response* as_response() const noexcept;
  [[nodiscard]] const data_part* as_data() const noexcept;
  [[nodiscard]] const reasoning_part* as_reasoning() const noexcept;
  [[nodiscard]] const custom_part* as_custom() const noexcept;
  [[nodiscard]] const resource_part* as_resource() const noexcept;

  value_type value;
  metadata_map metadata;

  friend bool operator==(const part&, const part&) = default;
};

// Defined outside of the class: otherwise `part()` would first fill all of it
// with zeros, and streaming makes a part for each chunk.
inline part::part() = default;

} // namespace tertulia::ai

namespace tertulia {

template <>
inline constexpr auto omitted_when_empty<ai::media_part> = std::tuple{
  &ai::media_part::content_type};

template <>
inline constexpr auto omitted_when_empty<ai::tool_request> = std::tuple{
  &ai::tool_request::ref, &ai::tool_request::input};

template <>
inline constexpr auto omitted_when_empty<ai::tool_response> = std::tuple{
  &ai::tool_response::ref, &ai::tool_response::output};

/// JSON of a part; see `ai::part`.
template <>
struct json_codec<ai::part> {
  static void write(std::string& out, const ai::part& x, const json_path& path);
  static ai::part read(const json& from, const json_path& path);
  static json schema();
};

} // namespace tertulia
