// SPDX-License-Identifier: BSD-3-Clause

// Nodes in two processes over TLS, with certificates made by `tertulia pki`,
// and strangers that connect to the port of one node.

#include <tertulia/descriptor.hpp>
#include <tertulia/remote_runtime.hpp>

#include <array>
#include <cstdint>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "support/child_process.hpp"
#include "support/network_config.hpp"
#include "support/node_flows.hpp"
#include "support/scratch.hpp"
#include "support/threaded.hpp"
#include "support/tool_process.hpp"
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

namespace tertulia::test::tool_tls_tests {

namespace {

namespace asio = boost::asio;

using boost::system::error_code;
using tcp = asio::ip::tcp;

void pki(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {TERTULIA_TOOL, "pki"});
  const auto result = run_process(std::move(arguments));
  ASSERT_EQ(result.code, 0) << result.err;
}

/// Memory and CPU time of a process, as reported by the system.
struct vital_signs {
  explicit vital_signs(pid_t pid) {
    const auto folder = "/proc/" + std::to_string(pid);
    std::ifstream status{folder + "/status"};
    for (std::string word; status >> word;)
      if (word == "VmHWM:")
        status >> peak_kib;
    std::ifstream stat{folder + "/stat"};
    std::string text;
    std::getline(stat, text);
    std::istringstream fields{text.substr(text.rfind(')') + 2)};
    std::string skipped;
    for (auto i = 0; i < 11; ++i)
      fields >> skipped;
    double user = 0;
    double kernel = 0;
    fields >> user >> kernel;
    cpu_seconds = (user + kernel) / static_cast<double>(sysconf(_SC_CLK_TCK));
  }

  long peak_kib = 0;
  double cpu_seconds = 0;
};

/// Returns a header of CAF's protocol: an operation, a length, and zeros for
/// the rest.
std::string header(char operation, std::uint32_t length) {
  std::string result(32, '\0');
  result[0] = operation;
  for (auto i = 0u; i < 4; ++i)
    result[4 + i] = static_cast<char>(length >> (24 - 8 * i));
  result[15] = 3; // the version
  return result;
}

/// Fixture with a server in another process. Trusted clients are in this
/// process.
struct tool_tls : ::testing::Test {
  tool_tls() {
    pki({"init", ours});
    pki({"issue", ours, "server"});
    pki({"issue", ours, "client"});
    pki({"init", theirs});
    pki({"issue", theirs, "client"});
    serve("0");
  }

  void serve(const std::string& at) {
    server.emplace("node_server", std::vector<std::string>{at, ours});
    port = static_cast<std::uint16_t>(std::stoi(server->read_line()));
  }

  static int greet_once(const remote_greet& greet) {
    auto talk = greet.stream_bidi(with_init(std::string{"dear "}));
    talk.send("you", 0.25);
    for (auto& x : talk.responses(patience))
      EXPECT_EQ(x, (greeting{"dear you", 0.5}));
    talk.close();
    return talk.output(patience);
  }

  static remote_greet greet_of(const remote_runtime& there) {
    return there.action<std::string, greeting, int, greeting>(
      "/bidi-flow/greet");
  }

  void expect_service() const {
    network_config cfg{tls_files::of(ours, "client")};
    caf::actor_system system{cfg};
    const remote_runtime there{system, "127.0.0.1", port};
    EXPECT_EQ(greet_once(greet_of(there)), 1);
  }

  /// Returns the code of an attempt to connect to a port of this machine.
  template <class... Within>
  static errc
  code_of_connecting(network_config&& cfg, std::uint16_t to, Within... within) {
    caf::actor_system system{cfg};
    return code_from([&] {
      remote_runtime{system, "127.0.0.1", to, within...};
    });
  }

  tcp::socket connect() {
    tcp::socket result{io};
    result.connect({asio::ip::address_v4::loopback(), port});
    return result;
  }

  /// Waits until the server closes the connection.
  static void expect_end(tcp::socket& x) {
    std::array<char, 256> ignored{};
    error_code error;
    while (!error)
      x.read_some(asio::buffer(ignored), error);
    EXPECT_TRUE(error == asio::error::eof
                || error == asio::error::connection_reset)
      << error.message();
  }

  /// Sends a text over TLS.
  /// @param as folder of the certificate to present; empty for none.
  void attack(const std::string& as, const std::string& text) {
    asio::ssl::context tls{asio::ssl::context::tls_client};
    if (!as.empty()) {
      const auto files = tls_files::of(as, "client");
      tls.use_certificate_chain_file(files.certificate);
      tls.use_private_key_file(files.key, asio::ssl::context::pem);
    }
    asio::ssl::stream<tcp::socket> line{connect(), tls};
    error_code error;
    line.handshake(asio::ssl::stream_base::client, error);
    asio::write(line, asio::buffer(text), error);
    expect_end(line.next_layer());
  }

  /// Checks that strangers have not affected the server.
  void expect_as_before(const vital_signs& before) const {
    expect_service();
    const vital_signs now{server->id()};
    EXPECT_LT(now.peak_kib - before.peak_kib, 65'536);
  }

  scratch folder;
  const std::string ours = (folder / "ours").string();
  const std::string theirs = (folder / "theirs").string();
  std::optional<child_process> server;
  std::uint16_t port = 0;
  asio::io_context io;
};

const std::vector<std::string> headers{header(0, 0), header(1, 0),
                                       header(0, 4'294'967'280),
                                       header(1, 4'294'967'280)};

} // namespace

TEST_F(tool_tls, joins_two_processes) {
  expect_service();
  network_config cfg{tls_files::of(ours, "client")};
  caf::actor_system system{cfg};
  const remote_runtime there{system, "127.0.0.1", port};
  auto count
    = there.action<nothing, int, int, int>("/bidi-flow/countUp").stream_bidi();
  count.send(20'000);
  count.close();
  int expected = 0;
  for (auto x : count.responses(patience))
    ASSERT_EQ(x, expected++);
  EXPECT_EQ(expected, 20'000);
  EXPECT_EQ(count.output(patience), 0);
}

TEST_F(tool_tls, says_at_once_when_the_other_process_is_killed) {
  network_config cfg{tls_files::of(ours, "client")};
  caf::actor_system system{cfg};
  const remote_runtime there{system, "127.0.0.1", port};
  auto talk = greet_of(there).stream_bidi();
  talk.send("you", 1.0);
  read_turn(talk);
  server->kill();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
}

TEST_F(tool_tls, connects_again_to_a_server_that_came_back) {
  network_config cfg{tls_files::of(ours, "client")};
  caf::actor_system system{cfg};
  const remote_runtime there{system, "127.0.0.1", port};
  const auto greet = greet_of(there);
  auto talk = greet.stream_bidi();
  server->kill();
  EXPECT_EQ(code_from([&] { talk.output(patience); }), errc::unavailable);
  serve(std::to_string(port));
  EXPECT_EQ(greet_once(greet), 1);
  EXPECT_EQ(there.actions().size(), 3u);
}

TEST_F(tool_tls, survives_headers_of_clients_without_a_certificate) {
  const vital_signs before{server->id()};
  for (const auto& x : headers) {
    auto line = connect(); // in plain text
    asio::write(line, asio::buffer(x));
    expect_end(line);
    attack({}, x);
  }
  expect_as_before(before);
}

TEST_F(tool_tls, survives_headers_of_clients_of_another_authority) {
  const vital_signs before{server->id()};
  for (const auto& x : headers)
    attack(theirs, x);
  expect_as_before(before);
}

TEST_F(tool_tls, serves_others_while_many_never_finish_their_handshake) {
  const vital_signs before{server->id()};
  std::vector<tcp::socket> silent;
  for (auto i = 0; i < 300; ++i)
    silent.push_back(connect());
  expect_end(silent.front()); // the oldest are closed to make room
  expect_service();
  expect_end(silent.back()); // the others end at their time-out
  const vital_signs now{server->id()};
  EXPECT_LT(now.cpu_seconds - before.cpu_seconds, 2);
  expect_as_before(before);
}

TEST_F(tool_tls, is_refused_by_a_server_of_another_authority) {
  EXPECT_EQ(code_of_connecting(network_config{tls_files::of(theirs, "client")},
                               port),
            errc::permission_denied);
}

TEST_F(tool_tls, hears_that_its_own_certificate_is_not_trusted) {
  // The client trusts the server, but the server does not trust the client.
  auto files = tls_files::of(theirs, "client");
  files.authority = tls_files::of(ours, "client").authority;
  EXPECT_EQ(code_of_connecting(network_config{files}, port),
            errc::permission_denied);
}

TEST_F(tool_tls, is_no_server_for_clients_in_plain_text) {
  EXPECT_EQ(code_of_connecting(network_config{}, port), errc::unavailable);
}

TEST_F(tool_tls, gives_up_on_a_server_that_says_nothing) {
  tcp::acceptor mute{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}};
  EXPECT_EQ(code_of_connecting(network_config{tls_files::of(ours, "client")},
                               mute.local_endpoint().port(),
                               std::chrono::milliseconds{50}),
            errc::deadline_exceeded);
}

TEST_F(tool_tls, ends_with_its_system) {
  network_config cfg{tls_files::of(ours, "client")};
  caf::actor_system system{cfg};
  tcp::socket silent{io};
  std::optional<connection<greeting, int, greeting>> talk;
  {
    network_config their_cfg{tls_files::of(ours, "server")};
    caf::actor_system their_system{their_cfg};
    runtime rt{their_system};
    define_node_flows(rt);
    const auto where = rt.publish();
    silent.connect({asio::ip::address_v4::loopback(), where});
    talk.emplace(greet_of({system, "127.0.0.1", where, caf::timespan::max()})
                   .stream_bidi());
    talk->send("you", 1.0);
    read_turn(*talk);
  }
  EXPECT_EQ(code_from([&] { (void)talk->output(patience); }),
            errc::unavailable);
  expect_end(silent);
}

TEST_F(tool_tls, hears_nothing_of_a_server_in_plain_text) {
  network_config their_cfg;
  caf::actor_system their_system{their_cfg};
  runtime rt{their_system};
  const auto there = rt.publish();
  EXPECT_EQ(code_of_connecting(network_config{tls_files::of(ours, "client")},
                               there),
            errc::unavailable);
}

TEST_F(tool_tls, asks_nobody_for_a_pass_phrase) {
  auto files = tls_files::of(ours, "client");
  const auto locked = (folder / "locked.key").string();
  ASSERT_EQ((run_process({"openssl", "ec", "-aes256", "-passout", "pass:secret",
                          "-in", files.key, "-out", locked})
               .code),
            0);
  files.key = locked;
  EXPECT_EQ(code_of_connecting(network_config{files}, port),
            errc::failed_precondition);
}

TEST_F(tool_tls, listens_at_addresses_and_not_at_names) {
  network_config cfg{tls_files::of(ours, "server")};
  caf::actor_system system{cfg};
  runtime rt{system};
  EXPECT_EQ(code_from([&] { rt.publish(0, "localhost"); }),
            errc::invalid_argument);
}

TEST_F(tool_tls, says_which_file_cannot_be_used) {
  auto files = tls_files::of(ours, "client");
  files.key = tls_files::of(ours, "server").key; // key of another certificate
  network_config cfg{files};
  caf::actor_system system{cfg};
  runtime rt{system};
  EXPECT_TRUE(
    has(error_text([&] { rt.publish(); }), "failed_precondition: ", files.key));
  EXPECT_EQ(code_from([&] {
              remote_runtime{system, "127.0.0.1", port};
            }),
            errc::failed_precondition);
}

} // namespace tertulia::test::tool_tls_tests
