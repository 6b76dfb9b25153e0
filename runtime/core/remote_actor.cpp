// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/config.hpp>
#include <tertulia/detail/blocking_caller.hpp>
#include <tertulia/detail/node_transport.hpp>
#include <tertulia/detail/timer.hpp>
#include <tertulia/remote_actor.hpp>
#include <tertulia/status.hpp>

#include <caf/actor_cast.hpp>
#include <caf/after.hpp>
#include <caf/io/middleman.hpp>
#include <caf/scoped_actor.hpp>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

using namespace std::chrono_literals;

namespace tertulia::detail {

std::uint16_t publish(caf::actor_system& system,
                      const caf::strong_actor_ptr& what,
                      std::set<std::string> speaks, std::uint16_t port,
                      const std::string& address,
                      const std::shared_ptr<spdlog::logger>& log) {
  if (const auto* encrypted = transport_of(system))
    return encrypted->publish(system, what, std::move(speaks), port, address,
                              log);
  std::uint16_t bound = 0;
  caf::error failure;
  caf::scoped_actor self{system};
  // No time-out: CAF's actor binds a port, and waits for nobody.
  self
    ->request(system.middleman().actor_handle(), caf::infinite,
              caf::publish_atom::value, port, what, std::move(speaks), address,
              true)
    .receive([&](std::uint16_t x) { bound = x; },
             [&](caf::error& x) { failure = std::move(x); });
  if (failure)
    throw status_error{errc::unavailable,
                       fmt::format("cannot listen on {}:{}: {}", address, port,
                                   system.render(failure))};
  return bound;
}

namespace {

using clock = std::chrono::steady_clock;

/// Search for an actor that another node has published.
class search {
public:
  search(caf::actor_system& system, const std::string& host, std::uint16_t port,
         clock::time_point until)
    : system_(system), host_(host), port_(port), until_(until),
      place_(host + ':' + std::to_string(port)) {}

  /// @param speaks message types that the actor must have.
  /// @param noun   for the error if it does not have them.
  caf::strong_actor_ptr run(const std::set<std::string>& speaks,
                            const std::string& noun) {
    // CAF returns a lost actor until it has heard of the loss itself, and may
    // lose the one of the next connection with it, because both have the same
    // id.
    auto losses = 0;
    for (auto pause = 1ms; losses < max_losses; pause *= 2) {
      auto found = connect(speaks, noun);
      const auto heard = ask(found);
      if (heard == reply::came) {
        confirm_connection(system_, found->node());
        return found;
      }
      losses = heard == reply::lost ? losses + 1 : 0;
      std::this_thread::sleep_for(std::min(pause, 64ms));
    }
    raise(fail(errc::unavailable,
               fmt::format("the {} at {} was lost", noun, place_)));
  }

private:
  static constexpr int max_losses = 8;

  /// Reaction of a node that was asked whether it is there.
  enum class reply {
    came,
    lost, ///< The actor was lost, or its node.
    none, ///< There was no answer, and the connection was closed.
  };

  /// CAF's `remote_actor` does this as well, but waits forever for a frozen
  /// host.
  caf::strong_actor_ptr connect(const std::set<std::string>& speaks,
                                const std::string& noun) {
    caf::scoped_actor self{system_}; // its time limits end with it
    caf::strong_actor_ptr result;
    caf::error failure;
    const auto wait_for_answer = [&](auto pending) {
      pending.receive(
        [&](const caf::node_id&, const caf::strong_actor_ptr& found,
            const std::set<std::string>& theirs) {
          if (found
              && std::includes(theirs.begin(), theirs.end(), speaks.begin(),
                               speaks.end()))
            result = found;
          else
            failure = fail(errc::unavailable,
                           fmt::format("there is no {} at {}", noun, place_));
        },
        [&](const caf::error& reason) {
          failure = code_of(reason) == errc::deadline_exceeded
                      ? no_answer()
                      : fail(errc::unavailable,
                             fmt::format("cannot connect to {}: {}", place_,
                                         system_.render(reason)));
        });
    };
    if (const auto* encrypted = transport_of(system_)) {
      auto line = encrypted->connect(system_, host_, port_, until_);
      wait_for_answer(self->request(node_broker(system_), for_request(left()),
                                    caf::connect_atom::value, std::move(line),
                                    port_));
    } else {
      wait_for_answer(self->request(system_.middleman().actor_handle(),
                                    for_request(left()),
                                    caf::connect_atom::value, host_, port_));
    }
    if (failure)
      raise(failure);
    return result;
  }

  /// Asks the node of an actor, which has less to do than the actor itself.
  reply ask(const caf::strong_actor_ptr& found) {
    if (found->node() == system_.node())
      return reply::came;
    caf::scoped_actor self{system_}; // late answers end with it
    self->monitor(caf::actor_cast<caf::actor>(found));
    self->send(node_broker(system_), caf::forward_atom::value, found->node(),
               caf::atom("SpawnServ"),
               caf::make_message(caf::sys_atom::value, caf::get_atom::value,
                                 std::string{"info"}));
    std::optional<reply> result;
    auto is_closed = false;
    while (!result)
      self->receive(
        [&](caf::ok_atom, const std::string&, const caf::strong_actor_ptr&,
            const std::string&) {
          result = is_closed ? reply::none : reply::came;
        },
        [&](const caf::down_msg&) {
          result = is_closed ? reply::none : reply::lost;
        },
        caf::after(std::min(pause_, left())) >>
          [&] {
            if (clock::now() >= until_)
              raise(no_answer());
            if (is_closed) {
              result = reply::none;
              return;
            }
            close_silent_connection(system_, found->node());
            is_closed = true;
            pause_ *= 2; // the node may have much to do
          });
    return *result;
  }

  [[nodiscard]] caf::timespan left() const {
    return std::max<caf::timespan>(until_ - clock::now(), caf::timespan{1});
  }

  [[nodiscard]] caf::error no_answer() const {
    return fail(errc::deadline_exceeded,
                fmt::format("no answer from {}", place_));
  }

  caf::actor_system& system_;
  const std::string& host_;
  const std::uint16_t port_;
  const clock::time_point until_;
  const std::string place_;
  caf::timespan pause_ = std::clamp<caf::timespan>(left() / 16, 1ms, 1s);
};

} // namespace

caf::strong_actor_ptr
find_remote(caf::actor_system& system, const std::string& host,
            std::uint16_t port, std::chrono::steady_clock::time_point until,
            const std::set<std::string>& speaks, const std::string& noun) {
  check_messages_of(system);
  check_may_block(system);
  return search{system, host, port, until}.run(speaks, noun);
}

std::chrono::steady_clock::time_point limit_of_search(caf::timespan within) {
  return later(clock::now(), within);
}

} // namespace tertulia::detail
