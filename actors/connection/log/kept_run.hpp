// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/detail/run_registry.hpp>
#include <tertulia/detail/scope.hpp>
#include <tertulia/run.hpp>

#include <caf/error.hpp>
#include <caf/timespan.hpp>
#include <caf/typed_response_promise.hpp>

#include <cstdint>
#include <memory>
#include <vector>

#include "run_record.hpp"

namespace tertulia::detail {

/// Returns the error for a run that does not exist for whoever asks.
/// @param run empty if the live run of a session was asked for.
[[nodiscard]] caf::error unknown_run(const run_id& run,
                                     const session_id& session = {});

/// Additional state of the connection of a kept run. As a wait it limits the
/// time without a client.
///
/// @threads only on the actor of its connection.
class kept_run final : public wait {
public:
  /// Called when the time without a client is over.
  class listener {
  public:
    virtual void on_expiry() = 0;

  protected:
    ~listener() = default;
  };

  kept_run(listener& of, run_id id, caf::timespan grace,
           std::uint64_t client_number, std::uint32_t chunk_window) noexcept
    : id(std::move(id)), grace(grace), client_number(client_number),
      chunk_window(chunk_window), owner_(of) {}

  void abort(const caf::error&) override {
    owner_.on_expiry();
  }

  const run_id id;
  const caf::timespan grace;         ///< zero for ever
  const std::uint64_t client_number; ///< of the first client
  const std::uint32_t chunk_window;  ///< of the first client
  std::unique_ptr<run_registry::registration> entry;
  std::unique_ptr<run_record> record; ///< null without a store
  /// Answers to requests that wait for the end of the turn.
  std::vector<caf::typed_response_promise<run_info>> turn_waiters;
  std::uint64_t timer = 0;    ///< number of the wait; 0 while it is not one
  bool is_known = false;      ///< whether its first client has said anything
  bool is_expired = false;    ///< whether no client came in time
  bool is_stopping = false;   ///< whether no client is expected any more
  bool is_leaving = false;    ///< whether nobody finds it any more
  bool awaits_credit = false; ///< whether a tick for credit is under way
  bool can_ask = true;        ///< whether readers can be asked: not at the end

private:
  listener& owner_;
};

} // namespace tertulia::detail
