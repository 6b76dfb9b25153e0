// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "genkit_events.hpp"

namespace tertulia::web {

/// Translator for agents: chunks, ends of turns, and an output also for a turn
/// that has failed.
class genkit_agent_translator final : public genkit_translator {
public:
  /// @param session of an agent without a store, as its client names it.
  genkit_agent_translator(bool has_store, std::string session)
    : has_store_(has_store), session_(std::move(session)) {}

  void translate(const frame& x, std::vector<genkit_event>& to) override;

private:
  void add_chunks(std::string_view chunks, std::vector<genkit_event>& to) const;
  void add_turn_end(const frame_position& x, std::vector<genkit_event>& to);
  void add_error(const frame& x, std::vector<genkit_event>& to) const;
  /// Returns the output of a turn.
  /// @param reason,state,error text; empty if there is none.
  [[nodiscard]] std::string output_of(std::string_view reason,
                                      std::string_view state,
                                      std::string_view error) const;
  /// Returns the name of the last snapshot as text of JSON.
  [[nodiscard]] std::string snapshot_text() const;

  const bool has_store_;
  bool is_open_ = false;
  std::string session_;
  /// Snapshot of the last turn that is over, or the first one.
  std::string snapshot_;
};

} // namespace tertulia::web
