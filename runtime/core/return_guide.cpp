// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/remote_desk.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <utility>

// Search for the front desk of another node, for clients that come back.

namespace tertulia::detail {

namespace {

/// Answers one `connect_atom` with the desk. Detached: it waits for the node.
caf::behavior connect_once(caf::event_based_actor* self,
                           const std::shared_ptr<remote_desk>& to) {
  return {[self, to](caf::connect_atom) -> caf::result<caf::actor> {
    self->quit(); // after this answer
    try {
      return caf::actor_cast<caf::actor>(to->get());
    } catch (...) {
      return current_exception_to_error();
    }
  }};
}

class guide_state {
public:
  static inline const char* name = "tertulia.guide";

  explicit guide_state(caf::event_based_actor* self)
    : self_(self), random_(std::random_device{}()) {}

  caf::behavior make_behavior(std::shared_ptr<remote_desk> to) {
    to_ = std::move(to);
    pause_ = to_->policy().first_pause;
    until_ = clock::now() + to_->policy().patience;
    self_->set_down_handler([this](const caf::down_msg& x) {
      if (desk_ && x.source == desk_.address())
        on_failure(fail(errc::unavailable,
                        "the node was lost: " + caf::to_string(x.reason)));
    });
    return {
      [this](caf::connect_atom, caf::error reason) -> caf::result<caf::actor> {
        answer_ = self_->make_response_promise<caf::actor>();
        auto answer = answer_;
        if (std::exchange(is_first_, false)
            && to_->policy().patience.count() > 0)
          look();
        else
          look_later(std::move(reason));
        return answer;
      },
      [this](caf::tick_atom) { look(); },
    };
  }

private:
  using clock = std::chrono::steady_clock;

  void look() {
    if (!to_->is_lost())
      return check(caf::actor_cast<caf::actor>(to_->desk()));
    // The attempt has a time limit of its own, and always answers.
    self_
      ->request(to_->system().spawn<caf::detached>(connect_once, to_),
                caf::infinite, caf::connect_atom_v)
      .then([this](caf::actor& found) { check(std::move(found)); },
            [this](caf::error& reason) { on_failure(std::move(reason)); });
  }

  /// Asks a desk whether it is there. CAF notices the loss of a node late.
  void check(caf::actor found) {
    forget_desk();
    desk_ = std::move(found);
    self_->monitor(desk_);
    self_
      ->request(desk_, to_->within(), caf::sys_atom::value,
                caf::get_atom::value, std::string{"info"})
      .then(
        [this](caf::ok_atom, const std::string&, const caf::strong_actor_ptr&,
               const std::string&) {
          if (!desk_)
            return; // lost meanwhile
          const auto found = desk_;
          forget_desk();
          answer_.deliver(found);
        },
        [this](caf::error& reason) {
          if (desk_)
            on_failure(std::move(reason));
        });
  }

  void on_failure(caf::error reason) {
    forget_desk();
    if (return_path::may_pass(reason))
      look_later(std::move(reason));
    else
      answer_.deliver(std::move(reason));
  }

  /// Looks again after a pause, or gives up.
  void look_later(caf::error reason) {
    if (clock::now() + pause_ > until_)
      return static_cast<void>(answer_.deliver(std::move(reason)));
    // Some of the pause is random, so that many clients do not come at once.
    std::uniform_int_distribution<int> part{50, 100}; // per cent
    self_->delayed_send(self_, pause_ * part(random_) / 100, caf::tick_atom_v);
    pause_ = std::min(pause_ * 2, to_->policy().longest_pause);
  }

  /// The desk outlives this actor and must not keep its monitor.
  void forget_desk() {
    if (const auto desk = std::exchange(desk_, nullptr))
      self_->demonitor(desk);
  }

  caf::event_based_actor* self_;
  std::shared_ptr<remote_desk> to_;
  caf::typed_response_promise<caf::actor> answer_;
  bool is_first_ = true;
  caf::actor desk_; ///< that is being checked
  clock::time_point until_;
  caf::timespan pause_{0};
  std::minstd_rand random_;
};

} // namespace

caf::actor remote_desk::spawn_guide() {
  return system_.spawn<caf::hidden>(
    [](caf::stateful_actor<guide_state>* self, std::shared_ptr<remote_desk> to)
      -> caf::behavior { return self->state.make_behavior(std::move(to)); },
    shared_from_this());
}

} // namespace tertulia::detail
