// SPDX-License-Identifier: BSD-3-Clause

// Implements `tertulia serve`: the agent of the chat, for browsers and
// programs.

#include <tertulia/http_server.hpp>
#ifdef TERTULIA_HAS_GENKIT
#include <tertulia/genkit_protocol.hpp>
#endif
#include <tertulia/otlp_exporter.hpp>
#ifdef TERTULIA_HAS_JWT
#include <tertulia/jwt_verifier.hpp>
#endif
#ifdef TERTULIA_HAS_METRICS
#include <tertulia/metrics.hpp>
#endif

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <memory>
#include <semaphore>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "chat/chat_partner.hpp"
#include "commands.hpp"
#include "data_file.hpp"
#include "interrupts.hpp"
#include "output/shown_text.hpp"
#include "output/units.hpp"
#include "tool_failure.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tertulia::tool {

namespace {

struct serve_options {
  std::string model;
  std::string address = "127.0.0.1";
  std::uint16_t port = 8080;
  std::string tokens;
  std::string certificate;
  std::string key;
  std::vector<std::string> origins;
  std::vector<std::string> hosts;
  std::string metrics_for;
  std::string stop_delay;
  std::string jwt_keys;
  std::string jwt_issuer;
  std::string jwt_audience;
  bool behind_proxy = false;
  bool sessions = false;
  bool quiet = false;
};

/// Descriptor of a file that is read.
struct open_file {
  explicit open_file(const std::string& name)
    : descriptor(::open(name.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor < 0)
      reject_file(name, errno);
  }

  open_file(const open_file&) = delete;
  open_file& operator=(const open_file&) = delete;

  ~open_file() {
    ::close(descriptor);
  }

  int descriptor;
};

/// Returns the text of a file to which only its owner has access.
std::string read_private(const std::string& name) {
  const open_file file{name};
  struct stat found {};
  if (::fstat(file.descriptor, &found) != 0)
    reject_file(name, errno);
  if ((found.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    throw failure{
      status_error{errc::failed_precondition,
                   fmt::format("{}: other users can use its tokens", name)},
      fmt::format("Try: chmod 600 {}", as_word(name))};
  std::string result;
  std::array<char, 4'096> bytes{};
  for (;;) {
    const auto size = ::read(file.descriptor, bytes.data(), bytes.size());
    if (size == 0)
      return result;
    if (size > 0)
      result.append(bytes.data(), static_cast<std::size_t>(size));
    else if (errno != EINTR)
      reject_file(name, errno);
  }
}

/// Reads the tokens of callers: on each line a name, blanks and the token.
/// Empty lines, and those that begin with `#`, are left out.
std::vector<bearer_token> read_tokens(const std::string& file) {
  std::istringstream lines{read_private(file)};
  std::vector<bearer_token> result;
  std::string line;
  for (auto number = 1; std::getline(lines, line); ++number) {
    std::istringstream words{line};
    bearer_token x;
    if (!(words >> x.caller) || x.caller.starts_with('#'))
      continue;
    std::string more;
    if (!(words >> x.token) || words >> more)
      throw failure{status_error{
        errc::invalid_argument,
        fmt::format("{}: line {} is not a name and a token", file, number)}};
    result.push_back(std::move(x));
  }
  if (result.empty())
    throw failure{status_error{errc::invalid_argument,
                               fmt::format("{}: has no token", file)}};
  return result;
}

std::shared_ptr<spdlog::logger> log_of_requests() {
  auto result = std::make_shared<spdlog::logger>(
    "http", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  result->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %v");
  result->flush_on(spdlog::level::info);
  return result;
}

http_server_options options_of(const serve_options& o) {
  http_server_options result;
  result.address = o.address;
  result.port = o.port;
  result.origins = o.origins;
  result.hosts = o.hosts;
#ifdef TERTULIA_HAS_GENKIT
  result.protocols.emplace_back(genkit_protocol());
#endif
  result.certificate = o.certificate;
  result.key = o.key;
  result.behind_proxy = o.behind_proxy;
  if (!o.tokens.empty())
    result.tokens = read_tokens(o.tokens);
  if (!o.metrics_for.empty())
    result.authorize = [reader = o.metrics_for](const access_request& x) {
      return x.verb != access_verb::measure || x.caller == reader;
    };
  if (!o.stop_delay.empty())
    result.stop_delay = parse_duration("--stop-delay", o.stop_delay);
  if (!o.quiet)
    result.log = log_of_requests();
  return result;
}

/// Returns an exporter of traces if a variable names a collector.
std::unique_ptr<otlp_exporter> exporter_for(runtime& rt) {
  if (!otlp_options::are_in_environment())
    return nullptr;
  return std::make_unique<otlp_exporter>(rt, otlp_options::from_environment());
}

void tell_of_losses(otlp_exporter& traces) {
  traces.flush(std::chrono::seconds{5});
  const auto count = traces.count();
  if (count.lost + count.dropped == 0)
    return;
  const auto why = traces.last_failure();
  remark(fmt::format("{} spans did not reach the collector of traces{}{}",
                     count.lost + count.dropped, why.empty() ? "." : ": ",
                     shown(why)));
}

void print_place(tool& t, const http_server& web, const chat_partner& agent) {
  document shown_as;
  shown_as["url"] = web.url();
  shown_as["agent"] = agent.key();
  t.print(shown_as, web.url());
  t.out().flush();
}

/// Signals to a server, for the thread that owns it.
class server_signals {
public:
  /// @param renews whether SIGHUP asks for the certificate; otherwise it ends
  ///               the server like the others.
  explicit server_signals(bool renews) : renews_(renews) {}

  /// Waits for the next signal.
  /// @returns true to renew the certificate, false to end.
  [[nodiscard]] bool wait() {
    arrived_.acquire();
    return !is_ending_;
  }

private:
  /// The second signal to end does not wait for the server.
  bool handle(int signal) {
    if ((signal != SIGHUP || !renews_) && is_ending_.exchange(true))
      return false;
    arrived_.release();
    return true;
  }

  bool renews_;
  std::atomic<bool> is_ending_ = false;
  std::counting_semaphore<> arrived_{0};
  instead_of_interrupt handler_{[this](int x) { return handle(x); },
                                handled_signals::all};
};

/// Sets the verifier of JSON Web Tokens.
/// @returns a function that reads its keys again; empty without one.
std::function<void()> add_login(http_server_options& to,
                                const serve_options& o) {
  const auto is_wanted
    = !o.jwt_keys.empty() || !o.jwt_issuer.empty() || !o.jwt_audience.empty();
  if (!is_wanted)
    return {};
  if (o.jwt_keys.empty() || o.jwt_issuer.empty() || o.jwt_audience.empty())
    reject_usage("--jwt-keys, --jwt-issuer and --jwt-audience need each other");
#ifdef TERTULIA_HAS_JWT
  jwt_verifier login{
    {.keys = o.jwt_keys, .issuer = o.jwt_issuer, .audience = o.jwt_audience}};
  to.authenticate = login;
  return [login]() mutable { login.renew(); };
#else
  static_cast<void>(to);
  reject_usage("this program was built without JSON Web Tokens");
#endif
}

exit_code serve(tool& t, const serve_options& o) {
  if (t.is_connected())
    reject_usage("\"serve\" serves the agent of this program, not that of a "
                 "running one");
  if (!o.metrics_for.empty() && o.tokens.empty() && o.jwt_keys.empty())
    reject_usage("--metrics-for needs --tokens or --jwt-keys");
  if (o.certificate.empty() != o.key.empty())
    reject_usage("--tls-certificate and --tls-key need each other");
  // Before the store is opened, so that a typo does not create it.
  auto options = options_of(o);
  const auto renew_login = add_login(options, o);
  server_signals signals{!o.certificate.empty() || renew_login};
  auto& store = t.store_or([] { return data_file("chat.db"); });
  runtime rt{store.system()};
  const chat_partner agent{rt, store.store(), o.model, {}};
  if (o.sessions)
    options.expose.emplace_back("/snapshot-store/*");
#ifdef TERTULIA_HAS_METRICS
  const metrics numbers{rt};
  options.metrics = numbers.reader();
#endif
  const auto traces = exporter_for(rt);
  http_server web{rt, std::move(options)};
  print_place(t, web, agent);
  if (!t.as_json() && !o.quiet)
    remark(fmt::format("Serving {} of {}; Ctrl-C lets the requests under way "
                       "end and stops, a second one stops at once.",
                       shown(agent.key()), shown(store.place())));
  const auto renew = [&](const auto& read) {
    try {
      read();
    } catch (const status_error& x) {
      report(failure{x, "The server continues with what it read before."},
             t.as_json());
    }
  };
  while (signals.wait()) {
    if (renew_login)
      renew(renew_login);
    if (!o.certificate.empty())
      renew([&] { web.renew_certificate(); });
  }
  web.stop();
  if (traces)
    tell_of_losses(*traces);
  return exit_code::fine;
}

} // namespace

void add_serve(CLI::App& root, command& chosen) {
  auto [x, o] = add_command<serve_options>(
    root, chosen, "serve",
    "Serve the agent of the chat to browsers and programs by HTTP, and print "
    "the address; logs requests on standard error",
    serve);
  add_value(x, "--port", o.port, "N", "Port; 0 picks a free one")
    .default_str("8080");
  add_value(
    x, "--address", o.address, "IP",
    "Interface to listen on; any but the loopback one needs --tokens or "
    "--jwt-keys, and --tls-certificate or --behind-proxy")
    .default_str("127.0.0.1");
  add_value(x, "--tokens", o.tokens, "FILE",
            "Bearer tokens of the callers, each on a line: NAME TOKEN. Only "
            "its owner may have access to the file");
  add_value(x, "--jwt-keys", o.jwt_keys, "FILE",
            "Serve callers whose JSON Web Tokens are signed by one of these "
            "keys (a JWK set); SIGHUP reads it again");
  add_value(x, "--jwt-issuer", o.jwt_issuer, "URL",
            "Issuer of these tokens, such as https://login.example.org");
  add_value(x, "--jwt-audience", o.jwt_audience, "NAME",
            "Name of this server among their audiences");
  add_value(x, "--tls-certificate", o.certificate, "FILE",
            "Speak TLS with this certificate (PEM, with those of its issuers); "
            "SIGHUP reads it again");
  add_value(x, "--tls-key", o.key, "FILE", "Key of this certificate (PEM)");
  add_value(x, "--origin", o.origins, "URL",
            "Origin whose pages are served too, such as https://example.org; "
            "may be repeated");
  add_value(x, "--host", o.hosts, "NAME",
            "A name of this host that pages may use; may be repeated");
  x.add_flag("--sessions", o.sessions,
             "Serve sessions and snapshots too: list, show, change and delete "
             "them; with --tokens each caller has its own");
  add_value(x, "--metrics-for", o.metrics_for, "NAME",
            "The only caller that may read the metrics; needs --tokens or "
            "--jwt-keys");
  add_value(x, "--stop-delay", o.stop_delay, "TIME",
            "Time to serve after the signal to end, such as 15s, while GET "
            "/readyz answers 503");
  x.add_flag("--behind-proxy", o.behind_proxy,
             "States that a proxy in front of the server encrypts");
  add_value(x, "--model", o.model, "NAME",
            fmt::format("Model that answers: {}", model_names()));
  x.add_flag("-q,--quiet", o.quiet, "Log nothing");
  x.footer("Example:\n"
           "  tertulia serve --port 8080 &\n"
           "  curl localhost:8080/actions/session-flow/chat \\\n"
           "    -d '{\"inputs\":[{\"messages\":[{\"role\":\"user\","
           "\"content\":[{\"text\":\"Hello\"}]}]}]}'\n\n"
           "The routes are listed by /openapi.json, and in docs/server.md.");
}

} // namespace tertulia::tool
