// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/openai_model.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <random>
#include <utility>

#include "exchange.hpp"
#include "exchange_wait.hpp"
#include "failure.hpp"
#include "io_thread.hpp"
#include "request_json.hpp"
#include "response_assembly.hpp"
#include "retry_policy.hpp"
#include "sse_parser.hpp"
#include <boost/asio/ssl/context.hpp>
#include <openssl/ssl.h>

namespace tertulia::ai {

namespace {

using openai::answer_head;
using openai::exchange;

// -- options ------------------------------------------------------------------

std::string variable(const char* name) {
  const auto* found = std::getenv(name);
  return found == nullptr ? std::string{} : std::string{found};
}

/// Text of a setting, with the name of its source.
struct setting {
  const char* name;
  std::string text;
};

/// Returns the first of two environment variables that is set.
setting first_of(const char* name, const char* other) {
  setting result{name, variable(name)};
  return result.text.empty() ? setting{other, variable(other)} : result;
}

bool is_field_text(std::string_view x) {
  return std::all_of(x.begin(), x.end(),
                     [](char c) { return c >= ' ' && c != 0x7F; });
}

[[noreturn]] void refuse_options(const char* why) {
  throw status_error{errc::invalid_argument, why};
}

void check(const openai_options& x) {
  if (x.model.empty())
    refuse_options("a model needs the name that its server knows");
  for (const auto& [name, value] : x.headers)
    if (name.empty() || name.find_first_of(" :\t") != std::string::npos
        || !is_field_text(name) || !is_field_text(value))
      refuse_options("a header field has a character that it must not have");
  if (!is_field_text(x.api_key))
    refuse_options("the API key has a character that it must not have");
  for (const auto within : {x.connect_within, x.first_byte_within,
                            x.next_bytes_within, x.total_within})
    if (within.count() <= 0)
      refuse_options("a time to wait for a model must be positive");
  if (x.first_retry_after.count() < 0 || x.max_retry_after.count() < 0
      || x.max_retries < 0)
    refuse_options("a retry must not be negative");
  for (const auto limit : {x.max_header_size, x.max_line_size,
                           x.max_answer_size, x.max_error_size})
    if (limit == 0 || limit > 0x7FFF'FFFF)
      refuse_options("a limit must be from 1 byte up to 2 GiB");
}

/// Returns the texts that only the server may receive. The value of a header
/// field may be a key, too. Texts of less than 8 bytes are not hidden, such as
/// the `none` that some servers want: without them errors would be unreadable.
openai::secrets secrets_of(const openai_options& x,
                           const std::optional<openai::url>& proxy) {
  openai::secrets result;
  const auto hide = [&](const std::string& text) {
    if (text.size() >= 8)
      result.push_back(text);
  };
  hide(x.api_key);
  for (const auto& [name, value] : x.headers)
    hide(value);
  if (proxy)
    hide(proxy->user);
  return result;
}

std::shared_ptr<boost::asio::ssl::context>
make_tls(const std::string& ca_file) {
  namespace ssl = boost::asio::ssl;
  auto result = std::make_shared<ssl::context>(ssl::context::tls_client);
  SSL_CTX_set_min_proto_version(result->native_handle(), TLS1_2_VERSION);
  boost::system::error_code error;
  if (ca_file.empty())
    result->set_default_verify_paths(error);
  else
    result->load_verify_file(ca_file, error);
  if (error)
    throw status_error{errc::not_found, "the trusted certificates cannot be "
                                        "read: "
                                          + error.message()};
  return result;
}

/// Parses the URL of a setting with `read`.
/// @errors as `read`, with the name of the setting.
template <class Read>
openai::url read_url(const setting& x, Read read) {
  try {
    return read(x.text);
  } catch (const status_error& error) {
    throw status_error{error.code(), x.name + (": " + error.message())};
  }
}

openai::url server_of(const openai_options& options) {
  setting where{"base_url", options.base_url};
  if (where.text.empty())
    where = {"OPENAI_BASE_URL", variable("OPENAI_BASE_URL")};
  if (where.text.empty())
    where.text += "https://api.openai.com/v1";
  auto result = read_url(where, openai::parse_url);
  if (!result.user.empty()) // it would not be sent
    refuse_options("the key of a server is no part of its URL");
  return result;
}

std::optional<openai::url> proxy_of(const openai_options& options,
                                    const openai::url& server) {
  setting where{"proxy", options.proxy};
  if (where.text.empty() && server.secure
      && !openai::is_excepted(first_of("NO_PROXY", "no_proxy").text, server))
    where = first_of("HTTPS_PROXY", "https_proxy");
  if (where.text.empty())
    return std::nullopt;
  return read_url(where, openai::parse_proxy);
}

std::shared_ptr<openai::endpoint> make_endpoint(openai_options options,
                                                const openai::io_thread& io) {
  if (options.api_key.empty())
    options.api_key = variable(options.api_key_variable.c_str());
  check(options);
  openai::destination to;
  to.server = server_of(options);
  to.connect_within = options.connect_within;
  if (to.server.secure)
    to.tls = make_tls(options.ca_file);
  to.proxy = proxy_of(options, to.server);
  const auto& first = to.proxy ? *to.proxy : to.server;
  to.names = std::make_shared<network::name_search>(io.context(), first.host,
                                                    first.port);
  auto hidden = secrets_of(options, to.proxy);
  auto target = to.server.path + "/chat/completions";
  const auto idle = options.max_idle_connections;
  return std::make_shared<openai::endpoint>(openai::endpoint{
    std::move(options), std::move(to), std::move(target), std::move(hidden),
    io.executor(), openai::connection_pool{io.executor(), idle}});
}

// -- one answer ---------------------------------------------------------------

/// Exchange of a body. It is closed when it is no longer needed.
class line {
public:
  line(context ctx, std::shared_ptr<openai::endpoint> with)
    : with_(std::move(with)), clock_(ctx.system().clock()),
      deadline_(clock_.now() + with_->options.total_within) {}

  line(const line&) = delete;
  line& operator=(const line&) = delete;

  ~line() {
    hang_up();
  }

  /// Sends a request, after closing the previous exchange.
  auto open(std::string text) {
    hang_up();
    now_ = std::make_shared<exchange>(with_);
    return openai::exchange_wait<answer_head>{
      now_, with_->at, now_->open(std::move(text)), left()};
  }

  /// Waits for the next bytes of the answer.
  /// @errors throws `deadline_exceeded` if the time of the call is over, even
  ///         if bytes keep arriving.
  auto read() {
    if (clock_.now() >= deadline_)
      throw status_error{errc::deadline_exceeded,
                         "the server's answer took too long"};
    return openai::exchange_wait<std::string>{now_, with_->at, now_->read(),
                                              left()};
  }

  /// Keeps the connection for the next request.
  void finish() {
    if (auto done = std::exchange(now_, nullptr))
      done->finish_soon();
  }

  /// Returns the time until the deadline of the whole call.
  [[nodiscard]] caf::timespan left() const {
    return std::max(caf::timespan{deadline_ - clock_.now()}, caf::timespan{1});
  }

  [[nodiscard]] const openai_options& options() const noexcept {
    return with_->options;
  }

  [[nodiscard]] const openai::secrets& hidden() const noexcept {
    return with_->hidden;
  }

private:
  void hang_up() {
    if (auto unwanted = std::exchange(now_, nullptr))
      unwanted->close_soon();
  }

  std::shared_ptr<openai::endpoint> with_;
  caf::actor_clock& clock_;
  caf::actor_clock::time_point deadline_;
  std::shared_ptr<exchange> now_;
};

/// Reads the body of an error, up to `max_error_size`.
task<std::string> read_error(line& at) {
  std::string result;
  while (result.size() < at.options().max_error_size) {
    auto pending = at.read();
    const auto bytes = co_await as_expected(std::move(pending));
    if (!bytes || bytes->empty())
      break;
    result += *bytes;
  }
  result.resize(std::min(result.size(), at.options().max_error_size));
  co_return result;
}

double random_fraction() {
  std::random_device source;
  return std::uniform_real_distribution<>{0, 1}(source);
}

/// Sends the request, with retries, until an answer arrives.
task<answer_head> open(context ctx, line& at, std::string text) {
  for (int retry = 0;; ++retry) {
    std::optional<status_error> failure;
    std::optional<caf::timespan> asked;
    try {
      auto pending = at.open(text);
      auto head = co_await std::move(pending);
      if (head.status == 200)
        co_return head;
      const auto said = co_await read_error(at);
      failure = openai::failure_of(head.status, said, at.hidden());
      if (!openai::is_worth_a_retry(head.status))
        throw *failure;
      asked = openai::parse_retry_after(head.retry_after,
                                        std::chrono::system_clock::now());
    } catch (const openai::no_answer& x) {
      failure = x;
    }
    const auto pause
      = openai::pause_before(retry, asked, random_fraction(), at.options());
    if (!pause || *pause >= at.left())
      throw *failure;
    co_await ctx.sleep(*pause);
  }
}

task<model_response> read_stream(line& at, model_output out) {
  openai::sse_parser events{at.options().max_line_size};
  openai::response_assembly answer;
  while (!answer.ended()) {
    auto pending = at.read();
    const auto bytes = co_await std::move(pending);
    if (bytes.empty())
      break;
    events.feed(bytes);
    while (auto event = events.next())
      if (auto piece = answer.take(*event))
        co_await out.send(std::move(*piece));
  }
  at.finish();
  if (auto requests = answer.take_requests())
    co_await out.send(std::move(*requests));
  co_return answer.finish();
}

task<model_response> read_document(line& at, model_output out) {
  std::string text;
  for (;;) {
    auto pending = at.read();
    const auto bytes = co_await std::move(pending);
    if (bytes.empty())
      break;
    text += bytes;
  }
  at.finish();
  openai::response_assembly answer;
  if (auto piece = answer.take_document(text))
    co_await out.send(std::move(*piece));
  if (auto requests = answer.take_requests())
    co_await out.send(std::move(*requests));
  co_return answer.finish();
}

task<model_response>
answer_from_server(context ctx, std::shared_ptr<openai::endpoint> with,
                   generate_request asked, model_output out) {
  try {
    auto text = openai::request_text(with->options.model, asked);
    line at{ctx, with};
    const auto head = co_await open(ctx, at, std::move(text));
    if (!head.encoding.empty())
      throw status_error{errc::data_loss, "the server's answer is encoded as "
                                            + head.encoding
                                            + ", which was not asked for"};
    if (head.content_type.starts_with("application/json"))
      co_return co_await read_document(at, out);
    if (head.content_type.empty()
        || head.content_type.starts_with("text/event-stream"))
      co_return co_await read_stream(at, out);
    throw status_error{errc::data_loss,
                       "the server's answer is neither events nor JSON"};
  } catch (const status_error& x) {
    throw openai::presentable(x, with->hidden);
  }
}

} // namespace

model define_openai_model(runtime& rt, std::string name,
                          openai_options options) {
  auto io = openai::io_thread::shared();
  auto with = make_endpoint(std::move(options), *io);
  auto description = with->options.model + " at " + with->to.server.authority();
  return define_model(
    rt, std::move(name),
    [io, with](context ctx, generate_request asked, model_output out) {
      return answer_from_server(ctx, with, std::move(asked), out);
    },
    std::move(description));
}

} // namespace tertulia::ai
