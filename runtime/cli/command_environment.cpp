// SPDX-License-Identifier: BSD-3-Clause

#include "command_environment.hpp"

#include <tertulia/json.hpp>

#include <cstdlib>
#include <filesystem>

#include "output/shown_text.hpp"
#include "output/units.hpp"
#include "tool_failure.hpp"
#include <fmt/format.h>

namespace tertulia::tool {

void tool::print(const document& as_json, const std::string& as_text) {
  if (options_.json)
    out_.json_line(as_json);
  else
    out_.line(as_text);
}

void tool::print_value(const char* kind, const json& x) {
  auto text = to_json_text(x);
  if (options_.json)
    text = std::string{"{\""} + kind + "\":" + text + '}';
  out_.line(shown_json(text));
  out_.flush();
}

store_access& tool::store(missing_store missing) {
  if (store_)
    return *store_;
  if (is_connected())
    return connect();
  const auto file = named_store();
  if (file.empty())
    reject_usage("no store was named",
                 "Add --store FILE, set TERTULIA_STORE to the file, or add "
                 "--connect HOST:PORT for a running program.");
  return open(file, missing);
}

std::string tool::store_options() const {
  if (!options_.store.empty())
    return fmt::format(" --store {}", as_word(options_.store));
  if (!is_connected())
    return {};
  return fmt::format(" --connect {}{}", as_word(options_.connect),
                     options_.plain
                       ? std::string{" --plain"}
                       : fmt::format(" --certificate {}",
                                     as_word(options_.certificate)));
}

program_address tool::address() const {
  return read_address(options_.connect, options_.certificate, options_.plain);
}

store_access& tool::connect() {
  if (!options_.store.empty())
    reject_usage("--store and --connect exclude each other");
  return store_.emplace(address(), parse_duration("--wait", options_.wait));
}

store_access&
tool::store_or(const std::function<std::filesystem::path()>& unnamed) {
  if (store_)
    return *store_;
  if (is_connected())
    return connect();
  const auto file = named_store();
  return open(file.empty() ? unnamed() : std::filesystem::path{file},
              missing_store::is_made);
}

std::string tool::named_store() const {
  if (!options_.store.empty())
    return options_.store;
  const char* value = std::getenv("TERTULIA_STORE");
  return value != nullptr ? value : "";
}

store_access& tool::open(const std::filesystem::path& file,
                         missing_store missing) {
  return store_.emplace(file, missing, parse_duration("--wait", options_.wait));
}

} // namespace tertulia::tool
