// SPDX-License-Identifier: BSD-3-Clause

#include "supervision.hpp"

#include <tertulia/status.hpp>

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message_view.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tertulia {

void supervision::check(const restart_options& x) {
  auto require = [](bool holds, const char* what) {
    if (!holds)
      throw status_error{errc::invalid_argument, what};
  };
  require(x.first_pause.count() > 0, "$.firstPause: must be longer than zero");
  require(x.longest_pause >= x.first_pause,
          "$.longestPause: is shorter than the first one");
  require(x.max_restarts > 0, "$.maxRestarts: must be 1 or more");
  require(x.period.count() > 0, "$.period: must be longer than zero");
}

void supervision::start(caf::strong_actor_ptr first) {
  self_->set_exit_handler([this](caf::exit_msg& x) {
    stopping_ = x.reason;
    // The supervised actor ends first: a client that waits for the end of the
    // supervisor may need what the actor holds, such as an open file.
    if (current_)
      self_->send_exit(current_, x.reason);
    else
      self_->quit(x.reason);
  });
  adopt(std::move(first));
}

caf::error supervision::down_error() const {
  return fail(errc::unavailable,
              stopping_
                ? fmt::format("the {} is being stopped", noun_)
                : fmt::format("the {} is down: {}", noun_, down_reason_));
}

bool supervision::on_down(const caf::down_msg& x) {
  if (!current_ || x.source != current_->address())
    return false;
  if (stopping_) {
    self_->quit(*stopping_);
    return true;
  }
  current_ = nullptr;
  plan_restart(caf::to_string(x.reason));
  return true;
}

void supervision::adopt(caf::strong_actor_ptr x) {
  current_ = std::move(x);
  self_->monitor(current_);
}

void supervision::plan_restart(const std::string& reason) {
  down_reason_ = reason;
  const auto now = self_->clock().now();
  while (!restarts_.empty() && now - restarts_.front() >= options_.period)
    restarts_.pop_front();
  const auto pause = pause_at(now);
  if (pause.count() == 0)
    return restart();
  // The shutdown of the actor system waits for an actor, but not for a pause,
  // since one pause may follow another. A pause that ends at the moment when
  // the system stops waiting is too late.
  self_->unregister_from_system();
  self_->clock().schedule_message(
    now + pause, self_->ctrl(),
    caf::make_mailbox_element(self_->ctrl(), caf::make_message_id(), {},
                              caf::tick_atom_v));
}

caf::timespan supervision::pause_at(time_point now) const {
  if (restarts_.empty())
    return caf::timespan{0};
  if (restarts_.size() >= options_.max_restarts)
    return restarts_.front() + options_.period - now;
  auto result = options_.first_pause;
  for (auto n = restarts_.size(); n > 1 && result < options_.longest_pause; --n)
    result *= 2;
  return std::min(result, options_.longest_pause);
}

void supervision::restart() {
  self_->register_at_system();
  restarts_.push_back(self_->clock().now());
  try {
    adopt(factory_(self_->system()));
  } catch (...) {
    // now with a pause, which limits the recursion
    plan_restart(to_status(current_exception_to_error()).message());
  }
}

// -- any actor ----------------------------------------------------------------

namespace {

class any_supervisor_state {
public:
  static inline const char* name = "tertulia.supervisor";

  explicit any_supervisor_state(caf::event_based_actor* self) : self_(self) {}

  caf::behavior make_behavior(detail::actor_factory factory,
                              restart_options options,
                              caf::strong_actor_ptr first) {
    below_.emplace(self_, "supervised actor", std::move(factory), options);
    self_->set_down_handler([this](caf::down_msg& x) { below_->on_down(x); });
    below_->start(std::move(first));
    self_->set_default_handler(
      [this](caf::scheduled_actor*,
             caf::message_view& x) -> caf::result<caf::message> {
        return pass_on(x.move_content_to_message());
      });
    return {[this](caf::tick_atom x) -> caf::result<caf::message> {
      if (self_->current_sender() != self_->ctrl())
        return pass_on(caf::make_message(x));
      below_->restart();
      return caf::message{};
    }};
  }

private:
  caf::result<caf::message> pass_on(caf::message x) {
    const auto current = below_->current();
    if (!current)
      return below_->down_error();
    return self_->delegate(caf::actor_cast<caf::actor>(current), std::move(x));
  }

  caf::event_based_actor* self_;
  std::optional<supervision> below_;
};

} // namespace

caf::actor detail::supervise_any(caf::actor_system& system,
                                 actor_factory factory,
                                 restart_options options) {
  supervision::check(options);
  auto first = factory(system);
  const auto run
    = [](caf::stateful_actor<any_supervisor_state>* self, actor_factory factory,
         restart_options options, caf::strong_actor_ptr first) {
        return self->state.make_behavior(std::move(factory), options,
                                         std::move(first));
      };
  return system.spawn(run, std::move(factory), options, std::move(first));
}

} // namespace tertulia
