// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/counted_actor.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_handlers.hpp>
#include <tertulia/store_supervisor.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/message_view.hpp>
#include <caf/response_type.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "live_leases.hpp"
#include "supervision.hpp"

namespace tertulia {

namespace {

class supervisor_state : private live_leases::listener {
public:
  static inline const char* name = "tertulia.store_supervisor";

  explicit supervisor_state(supervisor_actor::pointer self)
    : self_(self), leases_(self, *this) {}

  supervisor_actor::behavior_type
  make_behavior(std::shared_ptr<detail::actor_counts> counts,
                store_factory factory, restart_options options,
                managed_store store) {
    counts_ = std::move(counts);
    below_.emplace(
      self_, "store",
      [factory = std::move(factory)](caf::actor_system& system) {
        return caf::actor_cast<caf::strong_actor_ptr>(factory(system));
      },
      options);
    self_->set_down_handler([this](caf::down_msg& x) {
      if (below_->on_down(x))
        count_store();
      else
        leases_.release(x.source);
    });
    // CAF 0.17 sends a request with a value that cannot be encoded as an empty
    // message.
    self_->set_default_handler(
      [](caf::scheduled_actor*,
         caf::message_view& x) -> caf::result<caf::message> {
        if (x.content().size() > 0)
          return caf::sec::unexpected_message;
        return fail(errc::invalid_argument,
                    "a value of the request has no encoding");
      });
    below_->start(caf::actor_cast<caf::strong_actor_ptr>(store));
    count_store();
    return handle_verbs<supervisor_actor>(
      [this]<class Verb>(Verb x) -> caf::result<store_reply_t<Verb>> {
        constexpr auto needs_store
          = !std::is_same_v<Verb, release_lease_request>;
        if (needs_store && !below_->current())
          return below_->down_error();
        try {
          return answer(x);
        } catch (...) {
          return current_exception_to_error();
        }
      },
      [this](caf::tick_atom) {
        below_->restart();
        count_store();
      });
  }

private:
  // -- requests ---------------------------------------------------------------

  template <class Verb>
  caf::result<store_reply_t<Verb>> answer(Verb& x) {
    if (const auto session = session_without_fence(x))
      leases_.expect_free(*session);
    return self_->delegate(store(), std::move(x));
  }

  caf::result<lease_grant> answer(acquire_lease_request& x) {
    auto promise = self_->make_response_promise<lease_grant>();
    leases_.acquire(std::move(x), promise);
    return promise;
  }

  caf::result<bool> answer(release_lease_request& x) {
    return leases_.release(x.holder.address(), x.target);
  }

  // -- leases -----------------------------------------------------------------

  void grant(acquire_lease_request x, live_leases::promise to) override {
    if (below_->current())
      to.delegate(store(), std::move(x));
    else
      to.deliver(below_->down_error());
  }

  // Without a sender: nobody waits for the reply. On this thread, because the
  // next request for the store probably comes from it, too.
  void end(release_lease_request x) override {
    using message = caf::detail::type_list<release_lease_request>;
    static_assert(caf::response_type_unbox<caf::signatures_of_t<managed_store>,
                                           message>::valid);
    if (below_->current())
      caf::actor_cast<caf::abstract_actor*>(below_->current())
        ->eq_impl(caf::make_message_id(), nullptr, self_->context(),
                  std::move(x));
  }

  /// Returns the session that a request changes without a lease, though it
  /// needs one.
  template <class Verb>
  static std::optional<session_ref> session_without_fence(const Verb& x) {
    if constexpr (std::is_same_v<Verb, copy_session_request>)
      return x.to;
    if constexpr (std::is_same_v<Verb, save_session_request>)
      if (x.fence == 0)
        return x.target;
    if constexpr (std::is_same_v<Verb, restore_snapshot_request>)
      if (x.fence == 0)
        return session_ref{x.target.agent, x.target.session};
    if constexpr (std::is_same_v<Verb, save_snapshot_request>)
      if (x.fence == 0 && x.rule != append_rule::anywhere)
        return session_ref{x.record.agent, x.record.session};
    return std::nullopt;
  }

  /// Counts the messages and the commits of the store as those of this actor.
  void count_store() const {
    counts_->set_part(below_->current() ? detail::counts_of(below_->current())
                                        : nullptr);
  }

  /// @pre `below_->current()`
  [[nodiscard]] managed_store store() const {
    return caf::actor_cast<managed_store>(below_->current());
  }

  supervisor_actor::pointer self_;
  live_leases leases_;
  std::optional<supervision> below_;
  std::shared_ptr<detail::actor_counts> counts_;
};

using counted_supervisor = detail::with_counts<
  caf::stateful_actor<supervisor_state, supervisor_actor::base>>;

} // namespace

managed_store supervise_store(caf::actor_system& system, store_factory factory,
                              restart_options options) {
  supervision::check(options);
  auto first = factory(system);
  // Not hidden: the thread of a detached store ends only after the supervisor
  // has received the store's down message and released its handle, which needs
  // a running scheduler. So the system has to wait for the supervisor.
  return system.spawn(
    [](counted_supervisor* self, store_factory factory, restart_options options,
       managed_store first) {
      return self->state.make_behavior(self->counts(), std::move(factory),
                                       options, std::move(first));
    },
    std::move(factory), options, std::move(first));
}

} // namespace tertulia
