// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>
#include <tertulia/store.hpp>

#include <caf/actor_system.hpp>
#include <caf/response_type.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <typeindex>
#include <typeinfo>

#include <boost/describe.hpp>

namespace tertulia::testing {

/// Ways in which a store may fail a request.
enum class store_fault { fails, loses_its_answer, hangs, dies };
BOOST_DESCRIBE_ENUM(store_fault, fails, loses_its_answer, hangs, dies)

/// Store that obeys the test, and otherwise forwards requests to the store
/// behind it. An instruction holds for the next requests, or for the next
/// requests of one verb: `fail_next<save_snapshot_request>(2,
/// errc::unavailable)`.
///
/// @threads  any.
/// @lifetime must not outlive its actor system.
/// @design   docs/testing.md#stores.
class failing_store {
public:
  /// Creates a failing store in front of a memory store.
  explicit failing_store(caf::actor_system& system);

  failing_store(caf::actor_system& system, managed_store behind);

  failing_store(const failing_store&) = delete;
  failing_store& operator=(const failing_store&) = delete;

  /// Ends the store, whatever it holds back. A supervisor may start it again.
  ~failing_store();

  /// Returns the store; the one that was started last if there were several.
  [[nodiscard]] managed_store store() const;

  /// Returns a factory for a supervisor. It starts the store again with the
  /// same store behind it and the rest of the script.
  [[nodiscard]] std::function<managed_store(caf::actor_system&)>
  factory() const;

  /// Makes the next n requests have no effect and this answer.
  template <class Verb = void>
  void fail_next(std::uint32_t n, errc code) {
    plan<Verb>(n, effect::fail, code);
  }

  /// Makes the next n requests have their effect, but this answer.
  template <class Verb = void>
  void lose_next(std::uint32_t n, errc code) {
    plan<Verb>(n, effect::lose, code);
  }

  /// Makes the next n requests have no effect and no answer before
  /// `answer_hung`.
  template <class Verb = void>
  void hang_next(std::uint32_t n) {
    plan<Verb>(n, effect::hang);
  }

  /// Makes the store die of the next request.
  template <class Verb = void>
  void die_next() {
    plan<Verb>(1, effect::die);
  }

  /// Makes the store die of the next request without an answer to the requests
  /// that it holds.
  template <class Verb = void>
  void die_silently_next() {
    plan<Verb>(1, effect::die_silently);
  }

  /// Breaks the next request in this way.
  template <class Verb>
  void break_next(store_fault how) {
    switch (how) {
      case store_fault::fails: return fail_next<Verb>(1, errc::unavailable);
      case store_fault::loses_its_answer:
        return lose_next<Verb>(1, errc::unavailable);
      case store_fault::hangs: return hang_next<Verb>(1);
      case store_fault::dies: return die_next<Verb>();
    }
  }

  /// Makes the next n starts through `factory` throw.
  void fail_start(std::uint32_t n);

  /// Gives the pending requests their effect and their answer.
  void answer_hung();

  /// Returns the number of requests.
  [[nodiscard]] std::uint64_t requests() const;

  /// Returns the number of starts.
  [[nodiscard]] std::uint32_t starts() const;

private:
  class script;

  enum class effect { fail, lose, hang, die, die_silently };

  template <class Verb>
  void plan(std::uint32_t n, effect what, errc code = errc::ok) {
    static_assert(
      std::is_void_v<
        Verb> || caf::response_type<managed_store::signatures, Verb>::valid,
      "a failing_store fails requests of the protocol, such as "
      "save_snapshot_request");
    plan_for(typeid(Verb), n, what, code);
  }

  void plan_for(std::type_index verb, std::uint32_t n, effect what, errc code);

  std::shared_ptr<script> script_;
};

} // namespace tertulia::testing
