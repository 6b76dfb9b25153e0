// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/schema.hpp>
#include <tertulia/status.hpp>
#include <tertulia/stored_type.hpp>

#include <fmt/format.h>

namespace tertulia {

namespace detail {

/// Members of a `stored_type` in JSON.
struct type_members {
  std::string name;
  std::uint32_t version = 1;
};

BOOST_DESCRIBE_STRUCT(type_members, (), (name, version))

namespace {

/// Storage for a name that this program does not define, and the version that
/// refers to it.
struct foreign_type {
  explicit foreign_type(std::string_view name, std::uint32_t version)
    : text(name), version{text, version} {}

  foreign_type(const foreign_type&) = delete;
  foreign_type& operator=(const foreign_type&) = delete;

  std::string text;
  type_version version;
};

std::string in_words(const stored_type& x) {
  return x.name().empty()
           ? fmt::format("version {}", x.version())
           : fmt::format("version {} of \"{}\"", x.version(), x.name());
}

} // namespace

void reject_type(const stored_type& stored, const stored_type& known,
                 std::uint32_t step) {
  auto details
    = json::object({{"stored", to_json(stored)}, {"known", to_json(known)}});
  const auto known_words = in_words(known);
  std::string reason;
  if (are_strangers(stored, known)) {
    reason = fmt::format("this program has {}", known_words);
  } else if (stored.version() > known.version()) {
    reason = fmt::format("this program knows none newer than {}", known_words);
  } else {
    reason = fmt::format("this program has {}, but no migration from {} to {}",
                         known_words, step, step + 1);
    details["step"] = step;
  }
  throw status_error{errc::failed_precondition,
                     fmt::format("the stored state is {}, and {}",
                                 in_words(stored), reason),
                     details.dump()};
}

} // namespace detail

stored_type::stored_type(std::string_view name, std::uint32_t version) {
  if (!detail::is_type_name(name))
    throw status_error{
      errc::invalid_argument,
      fmt::format("the name of a type has at most {} printable "
                  "ASCII characters and no blanks",
                  max_type_name)};
  if (version == 0)
    throw status_error{errc::invalid_argument,
                       "the versions of a type begin at 1"};
  if (name.empty() && version == 1)
    return;
  const auto kept = std::make_shared<const detail::foreign_type>(name, version);
  type_ = {kept, &kept->version};
}

void json_codec<stored_type>::write(std::string& out, const stored_type& x,
                                    const json_path&) {
  append_json_text(out,
                   detail::type_members{std::string{x.name()}, x.version()});
}

stored_type json_codec<stored_type>::read(const json& from,
                                          const json_path& path) {
  const auto words = detail::read_value<detail::type_members>(from, path);
  if (!detail::is_type_name(words.name))
    raise_mismatch({path, "name"}, "the name of a type",
                   std::string_view{"something else"});
  if (words.version == 0)
    raise_mismatch({path, "version"}, "a version", std::string_view{"0"});
  return stored_type{words.name, words.version};
}

json json_codec<stored_type>::schema() {
  return detail::nested_schema_of<detail::type_members>();
}

} // namespace tertulia
