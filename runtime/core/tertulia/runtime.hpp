// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/bidi_action.hpp>
#include <tertulia/config.hpp>
#include <tertulia/detail/access.hpp>
#include <tertulia/detail/actor_kind.hpp>
#include <tertulia/detail/coroutine_kind.hpp>
#include <tertulia/detail/run_once.hpp>
#include <tertulia/runtime_options.hpp>

#include <caf/actor_system.hpp>
#include <caf/timespan.hpp>

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tertulia {

struct action_activity;
struct shared_actor_activity;

namespace detail {

class environment;

} // namespace detail

/// Entry point of the library: defines actions and opens connections to them,
/// in an actor system of the application.
///
/// ```
/// tertulia::config cfg;
/// caf::actor_system system{cfg};
/// tertulia::runtime rt{system};
/// auto echo = rt.define_bidi_flow("echo", echo_body);
/// ```
///
/// @threads  all members.
/// @lifetime must not outlive its actor system. Its destructor stops all open
///           connections (`unavailable`) and waits until they have ended,
///           including blocking work that has begun; it must not run on an
///           actor.
/// @design   docs/protocol.md#words.
class runtime {
public:
  /// @param system its configuration went through `add_messages_to` or is a
  ///               `tertulia::config`.
  /// @errors throws `failed_precondition` otherwise.
  explicit runtime(caf::actor_system& system, runtime_options options = {});

  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  ~runtime();

  // -- defining ---------------------------------------------------------------

  /// Defines a bidi action and registers it as `/bidi-action/<name>`.
  ///
  /// @param name        1 to 128 printable ASCII characters without blanks,
  ///                    and without `/` at the beginning or the end.
  /// @param body        a coroutine `task<Out>(context, Init, input<In>,
  ///                    output<Stream>)`, or without `Init`. The runtime keeps
  ///                    it while any connection to it is open, so a lambda may
  ///                    capture; it runs on many actors at once, so its
  ///                    captures must be thread-safe.
  /// @param description for people; part of the descriptor.
  /// @param keep        `with_keep` keeps the runs whose clients do not choose.
  /// @errors `already_exists`; `invalid_argument` for a bad name.
  /// @design docs/genkit.md 001 §2.1.
  template <class Body>
  auto define_bidi_action(std::string name, Body body,
                          std::string description = {},
                          const std::optional<with_keep>& keep = {}) {
    if constexpr (detail::check_bidi_body<Body>())
      return define("bidi-action", std::move(name), std::move(body),
                    std::move(description), keep);
  }

  /// Makes a bidi action that is not registered; see `define_bidi_action`.
  template <class Body>
  auto
  new_bidi_action(std::string name, Body body, std::string description = {}) {
    if constexpr (detail::check_bidi_body<Body>()) {
      using types = detail::types_of_body<Body>;
      const auto info = describe<types>("bidi-action", std::move(name),
                                        std::move(description));
      const auto action = detail::make_body_action<detail::body_kind<Body>>(
        std::move(body), detail::without_key(*info));
      keep(action);
      return handle<types>(action);
    }
  }

  /// Defines a bidi flow, which is a bidi action with a trace span per
  /// connection, and registers it as `/bidi-flow/<name>`; see
  /// `define_bidi_action`.
  /// @design docs/genkit.md 001 §2.2.
  template <class Body>
  auto define_bidi_flow(std::string name, Body body,
                        std::string description = {},
                        const std::optional<with_keep>& keep = {}) {
    if constexpr (detail::check_bidi_body<Body>())
      return define("bidi-flow", std::move(name), std::move(body),
                    std::move(description), keep);
  }

  // -- by key -----------------------------------------------------------------

  // Include <tertulia/descriptor.hpp> to use a descriptor, and
  // <tertulia/json.hpp> to use a document.

  /// Returns the descriptors of all registered actions, sorted by key.
  [[nodiscard]] std::vector<descriptor> actions() const;

  /// Returns the descriptor of an action; empty if the key is not registered.
  [[nodiscard]] std::optional<descriptor>
  find_action(const std::string& key) const;

  /// Returns a handle of a registered action that uses JSON, whatever the types
  /// of the action are. Inputs and initialization data of another shape are
  /// refused with `invalid_argument` and the JSON path.
  /// @errors `not_found`.
  [[nodiscard]] json_action action(const std::string& key) const;

  /// Opens a connection to a registered action; see `bidi_action::stream_bidi`.
  /// @errors also `not_found`.
  template <class... Options>
  [[nodiscard]] json_connection
  stream_bidi(const std::string& key, const Options&... options) const {
    return action(key).stream_bidi(options...);
  }

  /// Runs an action once: sends the inputs, closes, and waits for the output.
  /// Inputs that the action has not read when it ends are ignored; use
  /// `stream_bidi` to count them.
  ///
  /// @param key      key of the action.
  /// @param inputs   its inputs, in order.
  /// @param on_chunk receives each chunk as it arrives, on the calling thread;
  ///                 may be empty.
  /// @errors errors of `stream_bidi`, `send` and `output`; an exception of
  ///         `on_chunk` cancels the action.
  template <class... Options>
  // NOLINTNEXTLINE(modernize-use-nodiscard): it acts
  std::same_as<json> auto run_action(const std::string& key,
                                     const std::vector<json>& inputs,
                                     const chunk_listener& on_chunk = {},
                                     const Options&... options) const {
    return detail::run_once(stream_bidi(key, options...), inputs, on_chunk);
  }

  /// As `run_action`, for an action of known types with one input.
  ///
  /// ```
  /// const auto key = "/snapshot-store/chat/getSnapshot";
  /// auto now = rt.run_action<snapshot<words>>(key, snapshot_query{id});
  /// ```
  ///
  /// @errors also `invalid_argument` if the input has no JSON form or the
  ///         output is not an `Out`.
  template <class Out, class In>
  Out run_action(const std::string& key, const In& input) const {
    return from_json<Out>(*run_text(key, to_json_text(input)));
  }

  /// As `run_action`, for a client that is a body: waits without blocking.
  /// @lifetime `on_chunk` is called on the actor of the body.
  template <std::convertible_to<chunk_listener> Hear = chunk_listener,
            class... Options>
  [[nodiscard]] task<json>
  run_action(context ctx, const std::string& key, std::vector<json> inputs,
             Hear&& on_chunk = {}, Options&&... options) const {
    detail::check_awaited_arguments<Hear>();
    return detail::run_once(
      action(key).open(ctx, std::forward<Options>(options)...),
      std::move(inputs), chunk_listener{std::forward<Hear>(on_chunk)});
  }

  // -- for actors and tools ---------------------------------------------------

  /// Returns the actor that opens connections, for clients that are actors.
  [[nodiscard]] const front_desk_actor& front_desk() const noexcept;

  /// Returns the tracer, to which listeners of spans can be added.
  [[nodiscard]] tracer& traces() const noexcept;

  /// Returns numbers of all registered actions, sorted by key, for metrics.
  /// Include <tertulia/activity.hpp> to use them.
  /// @threads from any thread.
  [[nodiscard]] std::vector<action_activity> activity() const;

  /// Returns numbers of the front desk and, summed up, of the stores of all
  /// registered actions. A store on another node, or one that is not made by
  /// this library, is left out.
  /// Include <tertulia/activity.hpp> to use them.
  /// @threads from any thread.
  [[nodiscard]] std::vector<shared_actor_activity> shared_activity() const;

  [[nodiscard]] caf::actor_system& system() const noexcept;

  /// Publishes the front desk on a port, so that other processes can open
  /// connections: over TLS with mutual certificates, unless the configuration
  /// has explicitly chosen another transport (`add_network_to`).
  ///
  /// Over TLS no data of an unauthenticated peer gets past the handshake, which
  /// takes at most five seconds; at most 64 handshakes run at a time for one
  /// address and 256 in all, and a new one replaces the oldest. The holder of a
  /// certificate of the authority is fully trusted, see `tls_files`. A host
  /// that can be flooded needs a firewall, as any other.
  ///
  /// @param port    0 picks a free one.
  /// @param address address of this machine to listen on, in numeric form.
  /// @returns the port.
  /// @errors `failed_precondition` if the actor system has no network module
  ///         (see `add_network_to`) or its certificates cannot be used;
  ///         `invalid_argument` for an invalid address; `unavailable` if the
  ///         port cannot be opened.
  std::uint16_t publish(std::uint16_t port = 0,
                        const std::string& address = "127.0.0.1");

  /// Waits until each kept run has been in no turn, for example before the
  /// program ends. Runs that are opened meanwhile do not count, and a run whose
  /// body ends no turns is in one from its first input on.
  /// @param within time limit, not negative. A limit that is too short for an
  ///               answer counts as a turn that does not end.
  /// @returns false if the time limit has passed before.
  /// @errors throws `failed_precondition` on a thread of the scheduler.
  // NOLINTNEXTLINE(modernize-use-nodiscard): it acts
  bool wait_for_turns(caf::timespan within) const;

  /// Refuses new connections from now on and stops the open ones. Does not
  /// wait; the destructor does. Idempotent.
  void stop();

private:
  friend detail::access;

  /// Returns the descriptor of an action of these types.
  template <class Types>
  static std::shared_ptr<const descriptor>
  describe(std::string kind, std::string name, std::string description) {
    return detail::describe_action<
      typename Types::init_type, typename Types::in_type,
      typename Types::out_type, typename Types::stream_type>(
      std::move(kind), std::move(name), std::move(description));
  }

  /// Registers actions under their keys, all or none.
  void add(const std::vector<std::shared_ptr<const detail::action>>& all);

  void add(const std::shared_ptr<const detail::action>& action);

  /// Makes an action without a key known for as long as it is held elsewhere.
  void keep(const std::shared_ptr<const detail::action>& action);

  [[nodiscard]] detail::action_ref
  reference(const std::shared_ptr<const detail::action>& action) const;

  /// Makes a handle of an action.
  template <class Types>
  [[nodiscard]] auto
  handle(const std::shared_ptr<const detail::action>& action) const {
    return detail::access::make<
      bidi_action<typename Types::init_type, typename Types::in_type,
                  typename Types::out_type, typename Types::stream_type>>(
      reference(action));
  }

  /// Defines an action of any kind.
  template <class Body>
  auto define(std::string kind, std::string name, Body body,
              std::string description,
              const std::optional<with_keep>& keep = {}) {
    using types = detail::types_of_body<Body>;
    detail::run_policy runs;
    if (keep)
      keep->apply(runs);
    const auto action = detail::make_body_action<detail::body_kind<Body>>(
      std::move(body),
      describe<types>(std::move(kind), std::move(name), std::move(description)),
      runs);
    add(action);
    return handle<types>(action);
  }

  /// Runs an action with one input as JSON text.
  [[nodiscard]] std::shared_ptr<const json>
  run_text(const std::string& key, const std::string& input) const;

  std::shared_ptr<detail::environment> env_;
};

} // namespace tertulia
