// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>

#include <CLI/App.hpp>
#include <CLI/Formatter.hpp>

namespace tertulia::tool {

/// Formats help for a terminal of 80 cells.
class help_formatter : public CLI::Formatter {
public:
  std::string make_option_desc(const CLI::Option* x) const override;
  std::string make_subcommand(const CLI::App* x) const override;
};

} // namespace tertulia::tool
