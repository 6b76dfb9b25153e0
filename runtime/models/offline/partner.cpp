// SPDX-License-Identifier: BSD-3-Clause

#include "partner.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rules.hpp"
#include <fmt/format.h>

namespace tertulia::offline {

namespace {

/// Maximum number of messages that the partner remembers.
constexpr std::size_t memory = 1'000;

constexpr std::array<std::string_view, 3> coming_back{
  "Earlier you spoke of your %. Shall we go back to that?",
  "Does that have to do with your %?",
  "I still think of what you said about your %.",
};

/// The part of a conversation that the partner uses.
struct recollection {
  explicit recollection(const ai::message_log& messages) {
    const auto size = messages.size();
    for (const auto& x : messages.from(size - std::min(size, memory))) {
      if (x.role == ai::role::user)
        said.push_back(x.text());
      else if (x.role == ai::role::model)
        last_answer = x.text();
    }
    if (said.empty())
      said.emplace_back();
    latest = sentences_of(said.back());
  }

  std::vector<std::string> said; // by the user, oldest first; never empty
  std::vector<sentence> latest;
  std::string last_answer;
};

std::string filled(std::string_view form, std::string_view with) {
  std::string result{form};
  if (const auto position = result.find('%'); position != std::string::npos)
    result.replace(position, 1, with);
  return result;
}

/// Returns one of the answers, a different one each turn; empty if none is
/// left. Without words, answers that need them are left out. So is a repetition
/// of the last answer, unless there is only one answer to choose from.
std::string chosen(std::span<const std::string_view> answers,
                   std::string_view words, const recollection& now) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const auto form = answers[(now.said.size() + i) % answers.size()];
    if (words.empty() && form.find('%') != std::string_view::npos)
      continue;
    auto result = filled(form, words);
    if (result != now.last_answer || answers.size() == 1)
      return result;
  }
  return {};
}

/// Returns the end of a sequence of words in a sentence; empty if the sentence
/// does not contain the sequence.
std::optional<std::size_t>
end_of(const sentence& words, std::initializer_list<std::string_view> wanted) {
  const auto found = std::search(
    words.begin(), words.end(), wanted.begin(), wanted.end(),
    [](const word& x, std::string_view y) { return x.lower == y; });
  if (found == words.end())
    return std::nullopt;
  return static_cast<std::size_t>(found - words.begin()) + wanted.size();
}

bool has(const std::vector<sentence>& in,
         std::initializer_list<std::string_view> wanted) {
  return std::any_of(in.begin(), in.end(), [&](const sentence& x) {
    return end_of(x, wanted).has_value();
  });
}

// -- names --------------------------------------------------------------------

/// Returns the name in a text such as `my name is Ada`; empty if it has none.
std::string name_in(const std::vector<sentence>& text) {
  for (const auto& x : text) {
    auto from = end_of(x, {"my", "name", "is"});
    if (!from)
      from = end_of(x, {"call", "me"});
    if (from && *from < x.size())
      return joined(x, *from, std::min(*from + 2, x.size()));
  }
  return {};
}

std::string known_name(const recollection& now) {
  for (auto i = now.said.rbegin() + 1; i < now.said.rend(); ++i)
    if (auto name = name_in(sentences_of(*i)); !name.empty())
      return name;
  return {};
}

std::string speak_of_names(const recollection& now) {
  const auto& text = now.latest;
  if (has(text, {"what", "is", "my", "name"}) || has(text, {"who", "am", "i"})
      || has(text, {"know", "my", "name"})
      || has(text, {"remember", "my", "name"})) {
    const auto name = known_name(now);
    return name.empty()
             ? "You have not told me your name yet."
             : fmt::format("You told me that your name is {}.", name);
  }
  const auto name = name_in(text);
  return name.empty() ? std::string{}
                      : fmt::format("Nice to meet you, {}. How are you?", name);
}

// -- earlier messages ---------------------------------------------------------

std::string recall(const recollection& now) {
  const auto& text = now.latest;
  if (!has(text, {"what", "did", "i", "say"})
      && !has(text, {"what", "did", "i", "tell"})
      && !has(text, {"what", "have", "i", "said"})
      && !has(text, {"did", "we", "talk", "about"})
      && !has(text, {"do", "you", "remember", "me"})
      && !has(text, {"what", "do", "you", "remember"}))
    return {};
  std::string result;
  int told = 0;
  for (auto i = now.said.rbegin() + 1; i < now.said.rend() && told < 3; ++i) {
    if (i->empty())
      continue;
    result += fmt::format("{} \"{}\"",
                          told++ == 0 ? "You said" : ", and before that", *i);
  }
  return told == 0 ? "This is where we began." : result + '.';
}

/// Returns an answer that refers to something the user mentioned earlier; empty
/// if there is nothing.
std::string come_back(const recollection& now) {
  std::vector<std::string> things;
  for (std::size_t i = 0; i + 1 < now.said.size(); ++i)
    for (const auto& x : sentences_of(now.said[i]))
      if (const auto from = end_of(x, {"my"});
          from && *from < x.size() && x[*from].lower != "name")
        things.push_back(reflected(x, *from, x.size()));
  if (things.empty())
    return {};
  return chosen(coming_back, things[now.said.size() % things.size()], now);
}

} // namespace

std::string reply_to(const ai::message_log& messages) {
  const recollection now{messages};
  if (now.latest.empty())
    return "I am listening.";
  if (auto answer = speak_of_names(now); !answer.empty())
    return answer;
  if (auto answer = recall(now); !answer.empty())
    return answer;
  matched_rule best;
  for (const auto& x : now.latest)
    if (auto found = match(x);
        found.target != nullptr
        && (best.target == nullptr || found.target->rank > best.target->rank))
      best = std::move(found);
  if (best.target != nullptr)
    if (auto answer = chosen(best.target->answers, best.reflected, now);
        !answer.empty())
      return answer;
  if (auto answer = come_back(now); !answer.empty())
    return answer;
  return chosen(fallbacks(), {}, now);
}

} // namespace tertulia::offline
