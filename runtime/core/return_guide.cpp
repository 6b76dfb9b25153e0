// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/backoff.hpp>
#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

// Search for the front desk of another node, for clients that come back.

namespace tertulia::detail {

namespace {

/// Answers one `connect_atom` with the desk. Detached: it waits for the node.
caf::behavior connect_once(caf::event_based_actor* self,
                           const std::shared_ptr<remote_desk>& to) {
  return {[self, to](caf::connect_atom) -> caf::result<caf::actor> {
    self->quit(); // after this answer
    try {
      return caf::actor_cast<caf::actor>(to->reconnect());
    } catch (...) {
      return current_exception_to_error();
    }
  }};
}

class guide_state {
public:
  static inline const char* name = "tertulia.guide";

  explicit guide_state(caf::event_based_actor* self) : self_(self) {}

  caf::behavior make_behavior(std::shared_ptr<remote_desk> to) {
    to_ = std::move(to);
    pauses_.emplace(to_->policy(), clock::now());
    self_->set_down_handler([this](const caf::down_msg& x) {
      if (!desk_ || x.source != desk_.address())
        return;
      desk_ = nullptr;
      ++number_;
      on_failure(
        fail(errc::unavailable,
             fmt::format("the node was lost: {}", caf::to_string(x.reason))));
    });
    return {
      [this](caf::connect_atom, caf::error reason) -> caf::result<caf::actor> {
        begin(stage::looks);
        forget_desk(); // its end is not one of this attempt
        found_ = self_->make_response_promise<caf::actor>();
        auto answer = found_;
        if (std::exchange(is_first_, false))
          look();
        else
          look_later(std::move(reason));
        return answer;
      },
      [this](caf::monitor_atom) -> caf::result<caf::ok_atom> {
        begin(stage::watches);
        lost_ = self_->make_response_promise<caf::ok_atom>();
        auto answer = lost_;
        if (desk_)
          self_->delayed_send(self_, to_->within(), caf::tick_atom_v, number_);
        else
          on_failure(fail(errc::unavailable, "the node was lost"));
        return answer;
      },
      [this](caf::tick_atom) {
        if (stage_ == stage::looks)
          look();
      },
      [this](caf::tick_atom, std::uint64_t number) {
        if (number == number_)
          on_failure(fail(errc::deadline_exceeded,
                          "the desk of the node does not answer"));
      },
      [this](caf::close_atom) {
        begin(stage::none);
        // CAF keeps an actor that has sent to another node until it quits.
        forget_desk();
        self_->quit();
      },
    };
  }

private:
  using clock = std::chrono::steady_clock;

  /// Request of the client that is not answered.
  enum class stage { none, looks, watches };

  /// Begins another request; the last one is cancelled.
  void begin(stage next) {
    ++number_;
    const auto last = std::exchange(stage_, next);
    if (last == stage::looks)
      found_.deliver(fail(errc::cancelled, "another request has followed"));
    else if (last == stage::watches)
      lost_.deliver(fail(errc::cancelled, "another request has followed"));
  }

  void look() {
    if (!to_->is_lost())
      return check(caf::actor_cast<caf::actor>(to_->desk()));
    // The attempt has a time limit of its own, and always answers.
    self_
      ->request(to_->system().spawn<caf::detached>(connect_once, to_),
                caf::infinite, caf::connect_atom_v)
      .then(
        [this](caf::actor& found) {
          if (stage_ == stage::looks)
            check(std::move(found));
        },
        [this](caf::error& reason) {
          if (stage_ == stage::looks)
            on_failure(std::move(reason));
        });
  }

  /// Asks a desk whether it is there. CAF notices the loss of a node late.
  void check(caf::actor found) {
    if (found != desk_) {
      forget_desk();
      desk_ = std::move(found);
      self_->monitor(desk_);
    }
    const auto number = ++number_;
    self_
      ->request(desk_, to_->within(), caf::sys_atom::value,
                caf::get_atom::value, std::string{"info"})
      .then(
        [this, number](caf::ok_atom, const std::string&,
                       const caf::strong_actor_ptr&, const std::string&) {
          if (number != number_)
            return; // the desk was lost meanwhile
          stage_ = stage::none;
          found_.deliver(desk_);
        },
        [this, number](caf::error& reason) {
          if (number == number_)
            on_failure(std::move(reason));
        });
  }

  void on_failure(caf::error reason) {
    if (stage_ == stage::watches) {
      stage_ = stage::none;
      lost_.deliver(std::move(reason));
    } else if (stage_ == stage::looks) {
      if (return_path::may_pass(reason))
        look_later(std::move(reason));
      else
        give_up(std::move(reason));
    }
  }

  /// Looks again after a pause, or gives up.
  void look_later(caf::error reason) {
    const auto pause = pauses_->next(clock::now());
    if (!pause)
      return give_up(std::move(reason));
    self_->delayed_send(self_, *pause, caf::tick_atom_v);
  }

  void give_up(caf::error reason) {
    stage_ = stage::none;
    found_.deliver(std::move(reason));
  }

  /// The desk outlives this actor and must not keep its monitor.
  void forget_desk() {
    if (const auto desk = std::exchange(desk_, nullptr))
      self_->demonitor(desk);
  }

  caf::event_based_actor* self_;
  std::shared_ptr<remote_desk> to_;
  stage stage_ = stage::none;
  caf::typed_response_promise<caf::actor> found_;
  caf::typed_response_promise<caf::ok_atom> lost_;
  bool is_first_ = true;
  caf::actor desk_;          ///< of the last attempt; null if it was lost
  std::uint64_t number_ = 0; ///< of the last request, or question to a desk
  std::optional<backoff> pauses_;
};

} // namespace

caf::actor remote_desk::spawn_guide() {
  return system_.spawn<caf::hidden>(
    [](caf::stateful_actor<guide_state>* self, std::shared_ptr<remote_desk> to)
      -> caf::behavior { return self->state.make_behavior(std::move(to)); },
    shared_from_this());
}

} // namespace tertulia::detail
