// SPDX-License-Identifier: BSD-3-Clause

#include "rules.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tertulia::offline {

namespace {

using text = std::string_view;

constexpr text greeting[] = {
  "Hello. What would you like to talk about?",
  "Good to hear from you. What is on your mind?",
  "Hello there. How has your day been?",
};

constexpr text farewell[] = {
  "Goodbye. I liked our talk.",
  "Take care. We can go on whenever you like.",
};

constexpr text thanks[] = {
  "You are welcome. What else is there?",
  "Gladly. Shall we go on?",
};

constexpr text sorry[] = {
  "There is no need to be sorry.",
  "That is all right. What happened?",
};

constexpr text who_are_you[] = {
  "I am a listener that lives in this program. I need no network, only you.",
  "Only a patient listener. But we were speaking of you, were we not?",
};

constexpr text capability[] = {
  "I listen, I remember what you said, and I can use tools if I have any.",
  "I can listen, recall what you told me, and run a tool when you name it.",
};

constexpr text remember[] = {
  "Should I have kept % in mind? Tell me about it once more.",
  "Why does % come back to you now?",
  "What do you remember best?",
};

constexpr text dream[] = {
  "What do you think that dream says about %?",
  "Have you dreamt of % before?",
  "Do you often dream?",
};

constexpr text feel_bad[] = {
  "I am sorry to hear that. Since when are you %?",
  "What would help when you are %?",
  "Do you know what makes you %?",
};

constexpr text feel_good[] = {
  "I am glad. What has made you %?",
  "How nice. Who else knows that you are %?",
};

constexpr text i_am[] = {
  "How long have you been %?",
  "How does it feel to be %?",
  "Why do you think you are %?",
  "Who are you, then?",
};

constexpr text i_feel[] = {
  "When do you usually feel %?",
  "What do you do when you feel %?",
  "Tell me more about such feelings.",
};

constexpr text i_want[] = {
  "What would it change if you got %?",
  "Why do you want %?",
  "Suppose you soon had %. What then?",
};

constexpr text i_need[] = {
  "Why do you need %?",
  "Who could give you %?",
  "Would % really help you?",
};

constexpr text i_can_not[] = {
  "What keeps you from it, if you cannot %?",
  "Have you tried to %?",
  "Perhaps tomorrow you can.",
};

constexpr text i_think[] = {
  "What makes you think %?",
  "Are you quite sure %?",
  "What would a friend say to that?",
};

constexpr text i_do_not[] = {
  "Why do you not %?",
  "Would you like to %?",
  "What do you do instead?",
};

constexpr text i_like[] = {
  "What do you like best about %?",
  "Since when do you like %?",
  "Tell me what that gives you.",
};

constexpr text i_any[] = {
  "You %?",
  "What happened before you %?",
  "Go on.",
};

constexpr text my_family[] = {
  "Tell me more about your family.",
  "Who in your family is closest to you?",
};

constexpr text my_any[] = {
  "Your %?",
  "Why does your % matter to you?",
  "What comes to mind when you think of your %?",
};

constexpr text you_are[] = {
  "What makes you think I am %?",
  "Would you rather I were not %?",
  "Perhaps I am. And you?",
};

constexpr text you_me[] = {
  "What makes you think I % you?",
  "Is it important to you whether I % you?",
  "Let us rather speak of you.",
};

constexpr text can_you[] = {
  "Perhaps I can %. What would you do with it?",
  "Why should I %?",
  "I am better at listening. What is behind your question?",
};

constexpr text because[] = {
  "Is that the only reason?",
  "What other reasons might there be?",
  "Does % explain it all?",
};

constexpr text why[] = {
  "Why do you think %?",
  "What would the answer be worth to you?",
  "What is your own guess?",
};

constexpr text question[] = {
  "What answer would please you most?",
  "What do you think yourself?",
  "Why do you ask?",
};

constexpr text yes[] = {
  "You seem quite sure. Why is that so?",
  "I see. And then?",
};

constexpr text no[] = {
  "Why not?",
  "Are you saying no just for the moment?",
};

constexpr text always[] = {
  "Can you think of one example?",
  "When was the last time?",
  "Really every time?",
};

constexpr text perhaps[] = {
  "You do not seem sure. What would make you so?",
  "And if it were so?",
};

constexpr text machine[] = {
  "Do machines trouble you?",
  "What do you think machines should do for people?",
};

constexpr text work[] = {
  "How do you feel when you are at work?",
  "What would you change about your work?",
  "Who do you work with?",
};

constexpr rule rules[] = {
  {50, "thank you", thanks},
  {50, "thanks", thanks},
  {50, "goodbye", farewell},
  {50, "bye", farewell},
  {40, "who are you", who_are_you},
  {40, "what are you", who_are_you},
  {40, "what can you do", capability},
  {40, "help", capability},
  {35, "i remember *", remember},
  {35, "do you remember *", remember},
  {35, "i dreamt of *", dream},
  {35, "i dreamed of *", dream},
  {35, "dream", dream},
  {30, "mother", my_family},
  {30, "father", my_family},
  {30, "sister", my_family},
  {30, "brother", my_family},
  {30, "family", my_family},
  {25, "sorry", sorry},
  {20, "i feel *", i_feel},
  {20, "i want *", i_want},
  {20, "i would like *", i_want},
  {20, "i need *", i_need},
  {20, "i cannot *", i_can_not},
  {20, "i can not *", i_can_not},
  {20, "i think *", i_think},
  {20, "i believe *", i_think},
  {20, "i do not *", i_do_not},
  {20, "i like *", i_like},
  {20, "i love *", i_like},
  {20, "i am *", i_am},
  {20, "you are *", you_are},
  {20, "can you *", can_you},
  {20, "could you *", can_you},
  {18, "you * me", you_me},
  {16, "because *", because},
  {15, "why do *", question},
  {15, "why *", why},
  {14, "computer", machine},
  {14, "machine", machine},
  {14, "my job", work},
  {14, "work", work},
  {12, "always", always},
  {12, "never", always},
  {12, "everybody", always},
  {12, "nobody", always},
  {11, "perhaps", perhaps},
  {11, "maybe", perhaps},
  {10, "my *", my_any},
  {8, "what", question},
  {8, "how", question},
  {8, "who", question},
  {8, "where", question},
  {8, "when", question},
  {7, "i *", i_any},
  {6, "hello", greeting},
  {6, "hi", greeting},
  {6, "hey", greeting},
  {5, "yes", yes},
  {5, "no", no},
};

constexpr text low_moods[]
  = {"sad",    "tired",   "unhappy", "ill",    "angry",   "afraid",
     "lonely", "worried", "bored",   "hungry", "nervous", "stressed"};

constexpr text high_moods[]
  = {"happy", "glad", "well", "fine", "proud", "excited"};

constexpr text nothing_known[] = {
  "Please go on.",
  "Tell me more.",
  "What does that mean to you?",
  "Say a little more about it.",
  "I see.",
};

constexpr rule low_mood{21, "i am *", feel_bad};
constexpr rule high_mood{21, "i am *", feel_good};

std::vector<text> split(text pattern) {
  std::vector<text> result;
  while (!pattern.empty()) {
    const auto end = std::min(pattern.find(' '), pattern.size());
    result.push_back(pattern.substr(0, end));
    pattern.remove_prefix(std::min(end + 1, pattern.size()));
  }
  return result;
}

bool words_at(const sentence& words, std::size_t at,
              std::span<const text> wanted) {
  if (at + wanted.size() > words.size())
    return false;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (words[at + i].lower != wanted[i])
      return false;
  return true;
}

/// Half-open range of the words that the `*` stands for.
using range = std::pair<std::size_t, std::size_t>;

std::optional<range> find(const sentence& words, text pattern) {
  const auto parts = split(pattern);
  const auto star = std::find(parts.begin(), parts.end(), "*");
  const std::span<const text> head{parts.begin(), star};
  const std::span<const text> tail
    = star == parts.end() ? std::span<const text>{}
                          : std::span<const text>{star + 1, parts.end()};
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words_at(words, i, head))
      continue;
    const auto from = i + head.size();
    if (star == parts.end())
      return range{from, from};
    if (tail.empty())
      return range{from, words.size()};
    for (auto j = from + 1; j < words.size(); ++j)
      if (words_at(words, j, tail))
        return range{from, j};
  }
  return std::nullopt;
}

bool any_of(std::span<const text> these, const sentence& words,
            range words_range) {
  return std::any_of(
    words.begin() + static_cast<std::ptrdiff_t>(words_range.first),
    words.begin() + static_cast<std::ptrdiff_t>(words_range.second),
    [&](const word& x) {
      return std::find(these.begin(), these.end(), x.lower) != these.end();
    });
}

/// Returns the rule for the mood of a user; `plain` if the words name none.
const rule* rule_of_mood(const rule* plain, const sentence& words,
                         range words_range) {
  constexpr text negations[] = {"not", "never", "no"};
  if (any_of(negations, words, words_range))
    return plain;
  if (any_of(low_moods, words, words_range))
    return &low_mood;
  return any_of(high_moods, words, words_range) ? &high_mood : plain;
}

} // namespace

matched_rule match(const sentence& words) {
  const rule* best = nullptr;
  range words_range;
  for (const auto& x : rules)
    if (best == nullptr || x.rank > best->rank)
      if (const auto found = find(words, x.pattern)) {
        best = &x;
        words_range = *found;
      }
  if (best == nullptr)
    return {};
  if (best->pattern == "i am *")
    best = rule_of_mood(best, words, words_range);
  return {best, joined(words, words_range.first, words_range.second),
          reflected(words, words_range.first, words_range.second)};
}

std::span<const std::string_view> fallbacks() {
  return nothing_known;
}

} // namespace tertulia::offline
