// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/status.hpp>

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

namespace tertulia {

namespace {

constexpr auto our_category = caf::detail::error_factory<errc>::category;

errc translate(const caf::error& x) {
  if (x.category() == our_category)
    return x.code() <= static_cast<std::uint8_t>(last_errc)
             ? static_cast<errc>(x.code())
             : errc::unknown;
  if (x.category() == caf::atom("system"))
    switch (static_cast<caf::sec>(x.code())) {
      case caf::sec::request_timeout: return errc::deadline_exceeded;
      case caf::sec::request_receiver_down:
      case caf::sec::cannot_connect_to_node:
      case caf::sec::no_route_to_receiving_node:
      case caf::sec::disconnect_during_handshake: return errc::unavailable;
      case caf::sec::unexpected_message: return errc::unimplemented;
      case caf::sec::runtime_error: return errc::internal;
      default: return errc::unknown;
    }
  if (x.category() == caf::atom("exit")) // an actor's exit reason
    switch (static_cast<caf::exit_reason>(x.code())) {
      case caf::exit_reason::remote_link_unreachable: return errc::unavailable;
      case caf::exit_reason::user_shutdown: return errc::cancelled;
      case caf::exit_reason::unhandled_exception: return errc::internal;
      case caf::exit_reason::out_of_workers: return errc::resource_exhausted;
      default: return errc::aborted;
    }
  return errc::unknown;
}

/// Returns an error with a third element as the mark, which only this file
/// uses.
caf::error unexpected_error(std::string text) {
  return caf::make_error(errc::internal, std::move(text), std::string{}, true);
}

} // namespace

caf::error fail(errc code, std::string message, std::string details) {
  return caf::make_error(code, std::move(message), std::move(details));
}

caf::error to_error(const status_error& x) {
  if (x.is_unexpected())
    return unexpected_error(x.message());
  // A caf::error with code 0 is not an error, but the caller meant one.
  const auto code = x.code() == errc::ok ? errc::internal : x.code();
  return fail(code, x.message(), x.details());
}

status_error to_status(const caf::error& x) {
  const auto code = translate(x);
  const auto& context = x.context();
  if (x.category() != our_category) {
    const auto is_of_caf = x.category() == caf::atom("system")
                           || x.category() == caf::atom("exit");
    if (!is_of_caf && context.match_elements<std::string>())
      return {code, context.get_as<std::string>(0)};
    return {code, caf::to_string(x)};
  }
  if (context.match_elements<std::string, std::string>())
    return {code, context.get_as<std::string>(0),
            context.get_as<std::string>(1)};
  if (context.match_elements<std::string, std::string, bool>())
    return status_error::unexpected(context.get_as<std::string>(0));
  if (context.match_elements<std::string>())
    return {code, context.get_as<std::string>(0)};
  return {code, std::string{to_string(code)}};
}

errc code_of(const caf::error& x) {
  return x ? translate(x) : errc::ok;
}

caf::error current_exception_to_error() {
  try {
    throw;
  } catch (const status_error& x) {
    return to_error(x);
  } catch (const std::exception& x) {
    return unexpected_error(x.what());
  } catch (...) {
    return unexpected_error("an exception that is not a std::exception");
  }
}

void raise(const caf::error& x) {
  throw to_status(x);
}

} // namespace tertulia
