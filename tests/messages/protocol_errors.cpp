// SPDX-License-Identifier: BSD-3-Clause

// Errors keep their content, whatever creates them and wherever they are sent.

#include <tertulia/errc.hpp>
#include <tertulia/status.hpp>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

#include "support/protocol_fixture.hpp"

using namespace std::literals;

namespace tertulia::test::protocol_tests {

namespace {

std::string text_of(const caf::error& x) {
  return to_status(x).message();
}

} // namespace

TEST_F(protocol, the_numbers_of_errors_are_fixed_for_ever) {
  const std::array names{"ok",
                         "cancelled",
                         "unknown",
                         "invalid_argument",
                         "deadline_exceeded",
                         "not_found",
                         "already_exists",
                         "permission_denied",
                         "resource_exhausted",
                         "failed_precondition",
                         "aborted",
                         "out_of_range",
                         "unimplemented",
                         "internal",
                         "unavailable",
                         "data_loss",
                         "unauthenticated"};
  EXPECT_EQ(names.size(), static_cast<std::size_t>(last_errc) + 1);
  for (std::size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(to_string(static_cast<errc>(i)), names[i]);
  EXPECT_EQ(to_string(static_cast<errc>(names.size())), "unknown");
  EXPECT_EQ(static_cast<int>(errc::failed_precondition), 9);
  EXPECT_EQ(static_cast<int>(errc::unauthenticated), 16);
}

TEST_F(protocol, an_error_keeps_code_message_and_details_on_its_way) {
  for (int i = 1; i <= static_cast<int>(last_errc); ++i) {
    const status_error before{static_cast<errc>(i), "so \"it\" is", "{}"};
    const auto error = to_error(before);
    EXPECT_EQ(error.category(), caf::atom("tertulia"));
    EXPECT_EQ(error.code(), i);
    EXPECT_EQ(code_of(error), before.code());
    const auto after = to_status(load<caf::error>(save(error)));
    EXPECT_EQ(after.code(), before.code());
    EXPECT_EQ(after.message(), before.message());
    EXPECT_EQ(after.details(), before.details());
    EXPECT_EQ(system.render(error),
              std::string{to_string(before.code())} + ": so \"it\" is");
  }
}

TEST_F(protocol, an_error_of_another_maker_is_understood) {
  EXPECT_EQ(code_of(caf::none), errc::ok);
  EXPECT_EQ(code_of(caf::make_error(errc::aborted)), errc::aborted);
  EXPECT_EQ(text_of(caf::make_error(errc::aborted)), "aborted");
  EXPECT_EQ(text_of(caf::make_error(errc::aborted, "alone"s)), "alone");
  EXPECT_EQ(code_of(caf::make_error(errc::aborted, 1, 2)), errc::aborted);
  EXPECT_EQ(code_of(caf::error{200, caf::atom("tertulia")}), errc::unknown);
  EXPECT_EQ(code_of(caf::error{1, caf::atom("theirs")}), errc::unknown);
}

TEST_F(protocol, an_error_of_caf_has_a_code_of_ours) {
  const std::pair<caf::sec, errc> of_the_system[] = {
    {caf::sec::request_timeout, errc::deadline_exceeded},
    {caf::sec::request_receiver_down, errc::unavailable},
    {caf::sec::cannot_connect_to_node, errc::unavailable},
    {caf::sec::no_route_to_receiving_node, errc::unavailable},
    {caf::sec::disconnect_during_handshake, errc::unavailable},
    {caf::sec::unexpected_message, errc::unimplemented},
    {caf::sec::runtime_error, errc::internal},
    {caf::sec::bad_function_call, errc::unknown},
  };
  for (const auto& [theirs, ours] : of_the_system) {
    EXPECT_EQ(code_of(theirs), ours) << to_string(theirs);
    EXPECT_FALSE(text_of(theirs).empty());
  }
  const std::pair<caf::exit_reason, errc> of_an_exit[] = {
    {caf::exit_reason::kill, errc::aborted},
    {caf::exit_reason::remote_link_unreachable, errc::unavailable},
    {caf::exit_reason::user_shutdown, errc::cancelled},
    {caf::exit_reason::unhandled_exception, errc::internal},
    {caf::exit_reason::out_of_workers, errc::resource_exhausted},
  };
  for (const auto& [theirs, ours] : of_an_exit)
    EXPECT_EQ(code_of(theirs), ours) << to_string(theirs);
}

TEST_F(protocol, whatever_is_thrown_becomes_one_error) {
  const auto error_from = [](auto&& x) {
    try {
      throw std::forward<decltype(x)>(x);
    } catch (...) {
      return current_exception_to_error();
    }
  };
  const auto ours = error_from(status_error{errc::not_found, "gone", "{}"});
  EXPECT_EQ(code_of(ours), errc::not_found);
  EXPECT_EQ(to_status(ours).details(), "{}");
  EXPECT_EQ(code_of(error_from(std::runtime_error{"odd"})), errc::internal);
  EXPECT_EQ(text_of(error_from(std::runtime_error{"odd"})), "odd");
  EXPECT_EQ(code_of(error_from(42)), errc::internal);
  const auto odd = error_from(status_error{errc::ok, "odd"});
  EXPECT_EQ(code_of(odd), errc::internal) << "what is thrown is an error";
  EXPECT_EQ(text_of(odd), "odd");
  EXPECT_EQ(code_from([] { raise(fail(errc::data_loss, "x")); }),
            errc::data_loss);
  EXPECT_EQ(value_or_raise(caf::expected<int>{3}), 3);
  EXPECT_EQ(code_from([] {
              value_or_raise(caf::expected<int>{caf::sec::request_timeout});
            }),
            errc::deadline_exceeded);
}

} // namespace tertulia::test::protocol_tests
