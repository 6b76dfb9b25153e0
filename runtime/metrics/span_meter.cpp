// SPDX-License-Identifier: BSD-3-Clause

#include "span_meter.hpp"

#include <tertulia/span_names.hpp>
#include <tertulia/status.hpp>

#include <chrono>
#include <string_view>
#include <variant>

namespace tertulia {

namespace {

/// Span of a turn of a session flow, a child of that of the run.
constexpr auto turn_span = "sessionFlow/turn";

/// Number of keys of actions that have a label of their own.
constexpr std::size_t max_keys = 1'000;

/// Bounds of the buckets for durations, in seconds.
const prometheus::Histogram::BucketBoundaries& bounds() {
  static const prometheus::Histogram::BucketBoundaries result{
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
    0.5,   1,      2.5,   5,    10,    30,   60,  300};
  return result;
}

template <class Builder>
auto& family(prometheus::Registry& to, Builder builder, const char* name,
             const char* help) {
  return builder.Name(name).Help(help).Register(to);
}

std::string text_of(const span_data& x, std::string_view key) {
  const auto* value = x.find(key);
  const auto* text
    = value != nullptr ? std::get_if<std::string>(value) : nullptr;
  return text != nullptr ? *text : std::string{};
}

/// Returns whether a span is that of a run of an action: its name is the key.
bool is_run(const span_data& x) {
  return x.name.starts_with('/');
}

std::string status_of(const span_data& x) {
  return std::string{to_string(x.status)};
}

} // namespace

span_meter::span_meter()
  : runs_(family(registry_, prometheus::BuildCounter(), "tertulia_runs_total",
                 "Runs of actions that have ended, by their status")),
    open_runs_(family(registry_, prometheus::BuildGauge(), "tertulia_runs_open",
                      "Runs of actions that are under way")),
    run_seconds_(family(registry_, prometheus::BuildHistogram(),
                        "tertulia_run_duration_seconds",
                        "Durations of runs of actions")),
    turn_seconds_(family(registry_, prometheus::BuildHistogram(),
                         "tertulia_turn_duration_seconds",
                         "Durations of turns of session flows")),
    tokens_(family(registry_, prometheus::BuildCounter(),
                   "tertulia_model_tokens_total",
                   "Tokens that models have read and written")),
    requests_(family(registry_, prometheus::BuildCounter(),
                     "tertulia_http_requests_total",
                     "Requests that the HTTP server has answered")),
    request_seconds_(family(registry_, prometheus::BuildHistogram(),
                            "tertulia_http_request_duration_seconds",
                            "Durations of requests to the HTTP server")) {}

void span_meter::on_start(const span_data& x) noexcept {
  if (!is_run(x))
    return;
  try {
    const std::lock_guard guard{mutex_};
    const auto label = label_for(x.name);
    open_.emplace(x.context.span, label);
    open_runs_.Add({{"action", label}}).Increment();
  } catch (...) { // NOLINT(bugprone-empty-catch): no memory for a number
  }
}

void span_meter::on_end(std::shared_ptr<const span_data> x) noexcept {
  try {
    const std::lock_guard guard{mutex_};
    if (is_run(*x))
      count_run(*x);
    else if (x->name == turn_span)
      count_turn(*x);
    else if (x->find(span_names::http_method) != nullptr)
      count_request(*x);
  } catch (...) { // NOLINT(bugprone-empty-catch): no memory for a number
  }
}

std::string span_meter::label_for(const std::string& key) {
  if (keys_.contains(key))
    return key;
  if (keys_.size() == max_keys)
    return "other";
  keys_.insert(key);
  return key;
}

void span_meter::observe(histograms& to, const prometheus::Labels& labels,
                         const span_data& x) {
  to.Add(labels, bounds())
    .Observe(std::chrono::duration<double>{x.duration()}.count());
}

void span_meter::count_run(const span_data& x) {
  const auto action = label_for(x.name);
  if (open_.erase(x.context.span) > 0)
    open_runs_.Add({{"action", action}}).Decrement();
  runs_.Add({{"action", action}, {"status", status_of(x)}}).Increment();
  observe(run_seconds_, {{"action", action}}, x);
  count_tokens(x, action);
}

void span_meter::count_turn(const span_data& x) {
  const auto run = x.parent ? open_.find(*x.parent) : open_.end();
  observe(turn_seconds_,
          {{"action", run != open_.end() ? run->second : "other"},
           {"status", status_of(x)}},
          x);
}

void span_meter::count_request(const span_data& x) {
  auto route = text_of(x, span_names::http_route);
  if (route.empty())
    route = "none";
  const auto* code = x.find(span_names::http_status);
  const auto* number
    = code != nullptr ? std::get_if<std::int64_t>(code) : nullptr;
  requests_
    .Add({{"method", text_of(x, span_names::http_method)},
          {"route", route},
          {"code", number != nullptr ? std::to_string(*number) : "none"}})
    .Increment();
  observe(request_seconds_, {{"route", route}}, x);
}

void span_meter::count_tokens(const span_data& x, const std::string& model) {
  const auto add = [&](std::string_view key, const char* type) {
    const auto* value = x.find(key);
    const auto* number
      = value != nullptr ? std::get_if<std::int64_t>(value) : nullptr;
    if (number != nullptr && *number > 0)
      tokens_.Add({{"action", model}, {"type", type}})
        .Increment(static_cast<double>(*number));
  };
  add(span_names::input_tokens, "input");
  add(span_names::output_tokens, "output");
}

} // namespace tertulia
