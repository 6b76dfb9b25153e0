// SPDX-License-Identifier: BSD-3-Clause

#include "transfer.hpp"

#include <tertulia/detail/text.hpp>
#include <tertulia/protocol.hpp>

#include <caf/send.hpp>

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <sys/socket.h>

namespace tertulia::http {

namespace {

/// Bytes that are received before the body asks for them.
constexpr std::size_t max_read_ahead = 16'384;

/// Limits of the rest of an answer that is read to keep its connection.
constexpr std::size_t max_rest = 32'768;
constexpr std::chrono::seconds rest_within{1};

/// Longest `Retry-After`, in seconds.
constexpr curl_off_t max_retry_after = 366LL * 24 * 3600;

/// Longest time-out, so that no point in time overflows.
constexpr std::chrono::hours longest{24 * 365};

transfer::clock::time_point after(caf::timespan within) {
  return transfer::clock::now() + std::min<caf::timespan>(within, longest);
}

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos)
    return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Returns the size that a field `Content-Length` states; empty if it is not a
/// number.
std::optional<std::uint64_t> size_in(std::string_view text) {
  std::uint64_t result = 0;
  const auto* end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, result);
  if (parsed.ec != std::errc{} || parsed.ptr != end)
    return std::nullopt;
  return result;
}

template <class Error>
std::exception_ptr make_failure(errc code, const std::string& text) {
  return std::make_exception_ptr(Error{code, text});
}

} // namespace

transfer::~transfer() = default;

// -- for the body -------------------------------------------------------------

void transfer::start() {
  endpoint_->io->loop().post(
    [self = shared_from_this()] { self->endpoint_->lines->start(self); });
}

bool transfer::is_ready(part wanted, listener to) {
  const std::lock_guard guard{mutex_};
  if (is_done_ || (wanted == part::head ? has_head_ : !bytes_.empty()))
    return true;
  waiting_ = std::move(to);
  wanted_ = wanted;
  waiting_since_ = clock::now();
  return false;
}

http_head transfer::take_head() {
  const std::lock_guard guard{mutex_};
  if (!has_head_)
    std::rethrow_exception(failure_);
  return std::move(head_);
}

std::string transfer::take_bytes() {
  const std::lock_guard guard{mutex_};
  if (bytes_.empty() && failure_)
    std::rethrow_exception(failure_);
  if (std::exchange(is_paused_, false))
    endpoint_->io->loop().post(
      [self = shared_from_this()] { self->endpoint_->lines->resume(*self); });
  return std::exchange(bytes_, {});
}

void transfer::finish_soon() {
  endpoint_->io->loop().post([self = shared_from_this()] {
    if (self->has_ended_)
      return;
    self->phase_ = phase::rest;
    self->timer_.start(after(std::min<caf::timespan>(
      self->endpoint_->options.next_bytes_within, rest_within)));
    self->endpoint_->lines->resume(*self);
  });
}

void transfer::close_soon() noexcept {
  try {
    endpoint_->io->loop().post([self = shared_from_this()] {
      self->end(make_failure<status_error>(errc::cancelled,
                                           "the request was cancelled"));
    });
  } catch (const std::exception&) {
    // Out of memory: it is closed by its time-outs.
  }
}

// -- for the connections ------------------------------------------------------

void transfer::begin() {
  timer_.start(after(endpoint_->options.connect_within));
}

// -- callbacks ----------------------------------------------------------------

std::size_t transfer::on_header(char* data, std::size_t, std::size_t size,
                                void* self) {
  try {
    return static_cast<transfer*>(self)->take_line({data, size}) ? size : 0;
  } catch (const std::exception&) {
    return 0; // out of memory
  }
}

std::size_t transfer::on_body(char* data, std::size_t, std::size_t size,
                              void* self) {
  try {
    return static_cast<transfer*>(self)->take_body({data, size});
  } catch (const std::exception&) {
    return size == 0 ? 1 : 0;
  }
}

int transfer::on_trace(CURL*, curl_infotype type, char*, std::size_t size,
                       void* self) {
  auto& x = *static_cast<transfer*>(self);
  if (type != CURLINFO_DATA_IN || x.phase_ == phase::connecting)
    return 0;
  // These bytes may be sizes and extensions of chunks, which go to nobody.
  x.frame_size_ += size;
  if (x.frame_size_ > x.endpoint_->options.max_header_size + 4'096 + buffer_size
      && !x.refusal_) {
    x.refuse(errc::resource_exhausted, "the server's answer is too long");
    x.endpoint_->lines->doom(x);
  }
  return 0;
}

int transfer::on_connected(void* self, char*, char*, int, int) {
  auto& x = *static_cast<transfer*>(self);
  x.phase_ = phase::sent;
  x.head_size_ = 0; // without that of the proxy
  x.endpoint_->lines->name_found(x);
  x.timer_.start(after(x.endpoint_->options.first_byte_within));
  return CURL_PREREQFUNC_OK;
}

curl_socket_t transfer::on_socket(void* self, curlsocktype, curl_sockaddr* to) {
  auto& x = *static_cast<transfer*>(self);
  x.endpoint_->lines->name_found(x);
  return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

bool transfer::take_line(std::string_view line) {
  head_size_ += line.size();
  if (head_size_ > endpoint_->options.max_header_size)
    return refuse(errc::resource_exhausted, "the server's answer is too long");
  if (phase_ != phase::sent)
    return true; // of the proxy, or behind the body
  const auto text = trimmed(line);
  if (text.empty())
    return end_head();
  if (text.starts_with("HTTP/")) {
    incoming_ = {};
    const auto status = text.substr(std::min(text.find(' '), text.size()));
    std::from_chars(status.data() + 1, status.data() + status.size(),
                    incoming_.status);
  } else if (const auto colon = text.find(':'); colon != text.npos) {
    incoming_.fields.emplace_back(detail::lowered(text.substr(0, colon)),
                                  trimmed(text.substr(colon + 1)));
  }
  return true;
}

bool transfer::end_head() {
  if (incoming_.status < 200)
    return true; // an interim answer
  std::optional<std::uint64_t> size;
  for (const auto& [name, value] : incoming_.fields) {
    if (name != "content-length")
      continue;
    const auto stated = size_in(value);
    if (!stated || (size && size != stated)
        || !incoming_.field("transfer-encoding").empty())
      return refuse(errc::data_loss,
                    "the server's answer is not HTTP: its size is unclear");
    size = stated;
  }
  if (size && *size > endpoint_->options.max_answer_size)
    return refuse(errc::resource_exhausted, "the server's answer is too long");
  curl_off_t retry_after = 0; // as seconds, also if the field is a date
  curl_easy_getinfo(easy_.get(), CURLINFO_RETRY_AFTER, &retry_after);
  phase_ = phase::answer;
  timer_.start(after(endpoint_->options.next_bytes_within));
  listener to;
  {
    const std::lock_guard guard{mutex_};
    head_ = std::move(incoming_);
    head_.retry_after = std::chrono::seconds{
      std::clamp<curl_off_t>(retry_after, 0, max_retry_after)};
    has_head_ = true;
    to = std::exchange(waiting_, {});
  }
  tell(std::move(to));
  return true;
}

std::size_t transfer::take_body(std::string_view bytes) {
  if (refusal_)
    return 0;
  listener to;
  if (phase_ == phase::rest) {
    rest_size_ += bytes.size();
    frame_size_ = 0;
    return rest_size_ > max_rest ? 0 : bytes.size();
  }
  {
    const std::lock_guard guard{mutex_};
    if (!bytes_.empty() && bytes_.size() + bytes.size() > max_read_ahead) {
      is_paused_ = true;
      return CURL_WRITEFUNC_PAUSE;
    }
    body_size_ += bytes.size();
    frame_size_ = 0;
    if (body_size_ > endpoint_->options.max_answer_size) {
      refuse(errc::resource_exhausted, "the server's answer is too long");
      return 0;
    }
    bytes_ += bytes;
    if (wanted_ == part::bytes)
      to = std::exchange(waiting_, {});
  }
  tell(std::move(to));
  return bytes.size();
}

bool transfer::refuse(errc code, const std::string& reason) {
  refusal_ = make_failure<status_error>(code, reason);
  return false;
}

// -- ends ---------------------------------------------------------------------

void transfer::on_time() {
  const auto self = shared_from_this();
  const auto& options = endpoint_->options;
  switch (phase_) {
    case phase::connecting:
      return end(make_failure<no_answer>(
        errc::deadline_exceeded, fmt::format("no connection to {} in time",
                                             endpoint_->server.endpoint())));
    case phase::sent:
      return end(make_failure<status_error>(
        errc::deadline_exceeded, "the server did not begin to answer in time"));
    case phase::rest: return end(std::exception_ptr{});
    case phase::answer: break;
  }
  // A wait does not set the timer, which would need the I/O thread: no wait
  // that has begun since the timer was set can be over yet.
  auto due = after(options.next_bytes_within);
  {
    const std::lock_guard guard{mutex_};
    if (waiting_.actor)
      due = std::min(due, waiting_since_
                            + std::min<caf::timespan>(options.next_bytes_within,
                                                      longest));
  }
  if (due > clock::now())
    return timer_.start(due);
  end(make_failure<status_error>(errc::deadline_exceeded,
                                 "the server sent nothing for too long"));
}

void transfer::end(CURLcode result) {
  if (refusal_)
    return end(refusal_);
  if (result == CURLE_OK || phase_ == phase::rest)
    return end(std::exception_ptr{});
  if (phase_ != phase::connecting)
    return end(failure_of_answer(result));
  const auto failure = failure_of_connecting(result);
  end(failure);
  if (result == CURLE_COULDNT_RESOLVE_HOST
      || result == CURLE_COULDNT_RESOLVE_PROXY)
    endpoint_->lines->fail_queue(failure);
}

void transfer::end(std::exception_ptr failure) {
  if (std::exchange(has_ended_, true))
    return;
  const auto self = shared_from_this();
  timer_.stop();
  endpoint_->lines->remove(*this);
  easy_.reset();
  listener to;
  {
    const std::lock_guard guard{mutex_};
    is_done_ = true;
    failure_ = std::move(failure);
    to = std::exchange(waiting_, {});
  }
  tell(std::move(to));
}

void transfer::tell(listener to) {
  if (to.actor)
    caf::anon_send(to.actor, done_atom_v, to.id);
}

std::exception_ptr transfer::failure_of_connecting(CURLcode x) const {
  long status = 0; // of the proxy
  curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &status);
  const auto reason = reason_of(x);
  const auto server = endpoint_->server.endpoint();
  if (x == CURLE_PEER_FAILED_VERIFICATION)
    return make_failure<status_error>(
      errc::permission_denied,
      fmt::format("the certificate of {} is not trusted: {}", server, reason));
  if (status == 403 || status == 407)
    return make_failure<status_error>(
      errc::permission_denied,
      fmt::format("the proxy {} does not connect us: {}",
                  endpoint_->proxy->endpoint(), status));
  // Bytes behind the answer of the proxy, or of a server without TLS.
  if (status / 100 == 2
      && reason.find("wrong version number") != std::string::npos)
    return make_failure<status_error>(
      errc::data_loss, fmt::format("the proxy {} speaks for the server: {}",
                                   endpoint_->proxy->endpoint(), reason));
  return make_failure<no_answer>(
    x == CURLE_OPERATION_TIMEDOUT ? errc::deadline_exceeded : errc::unavailable,
    fmt::format("no connection to {}: {}", server, reason));
}

std::exception_ptr transfer::failure_of_answer(CURLcode x) const {
  const auto reason = reason_of(x);
  switch (x) {
    case CURLE_OUT_OF_MEMORY: // the limit of libcurl for one line
      return make_failure<status_error>(errc::resource_exhausted,
                                        "the server's answer is too long");
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_UNSUPPORTED_PROTOCOL: // HTTP/0.9
      return make_failure<status_error>(
        errc::data_loss,
        fmt::format("the server's answer is not HTTP: {}", reason));
    default: break;
  }
  // libcurl has the same code for these as for a lost connection.
  if (reason.find("Out of memory in chunk") != std::string::npos)
    return make_failure<status_error>(errc::resource_exhausted,
                                      "the server's answer is too long");
  if (reason.find("chunk") != std::string::npos)
    return make_failure<status_error>(
      errc::data_loss,
      fmt::format("the server's answer is not HTTP: {}", reason));
  if (head_size_ == 0)
    return make_failure<no_answer>(
      errc::unavailable, "the server closed the connection without an answer");
  return make_failure<status_error>(
    errc::unavailable, fmt::format("the connection was lost: {}", reason));
}

std::string transfer::reason_of(CURLcode x) const {
  return error_text_[0] != '\0' ? error_text_.data() : curl_easy_strerror(x);
}

} // namespace tertulia::http
