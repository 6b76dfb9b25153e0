// SPDX-License-Identifier: BSD-3-Clause

#include "web_address.hpp"

namespace tertulia::web {

std::optional<web_address> web_address::of(std::string_view url) {
  for (const std::string_view scheme : {"http://", "ws://"})
    if (url.starts_with(scheme)) {
      url.remove_prefix(scheme.size());
      const auto slash = url.find('/');
      const auto place = url.substr(0, slash);
      const auto colon = place.rfind(':');
      if (colon == std::string_view::npos || colon == 0)
        return std::nullopt;
      web_address result;
      result.host = place.substr(0, colon);
      if (result.host.starts_with('[') && result.host.ends_with(']'))
        result.host = result.host.substr(1, result.host.size() - 2);
      result.port = place.substr(colon + 1);
      result.path = slash == std::string_view::npos ? "/" : url.substr(slash);
      return result;
    }
  return std::nullopt;
}

} // namespace tertulia::web
