#include "event/grammar.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace loft::event {
namespace {

constexpr std::string_view kModifierHint =
    "the modifiers are u (user), k (kernel), h (hypervisor), and p, pp or ppp (precise samples)";

Failure bad_list(std::string_view list, std::string why, std::string hint = {}) {
  return failure(ErrorKind::invalid_input, "read the event list " + in_quotes(list), std::move(why),
                 std::move(hint));
}

// Walks over a list one character at a time and cuts it where it may be cut.
class ListSplitter {
 public:
  explicit ListSplitter(std::string_view list) : list_(list) {}

  Result<std::vector<ListItem>> run() {
    for (at_ = 0; at_ < list_.size(); ++at_) LOFT_CHECK(take(list_[at_]));
    if (in_terms_) return bad_list(list_, "a '/' is never closed", "write pmu/term=value/");
    if (in_braces_) return bad_list(list_, "a '{' is never closed", "close the group with '}'");
    if (!after_braces_) LOFT_CHECK(finish_item());
    return std::move(items_);
  }

 private:
  Result<void> take(char c) {
    if (c == '/') in_terms_ = !in_terms_;
    if (in_terms_ || c == '/') return append(c);
    if (c == '{') return open_group();
    if (c == '}') return close_group();
    if (c == ',') {
      if (after_braces_) {
        after_braces_ = false;
        return {};
      }
      return finish_item();
    }
    return append(c);
  }

  Result<void> append(char c) {
    if (after_braces_)
      return bad_list(list_, "text follows a '}'", "separate groups and events with commas");
    item_ += c;
    return {};
  }

  Result<void> open_group() {
    if (in_braces_) return bad_list(list_, "a group stands inside a group", "groups do not nest");
    if (after_braces_ || !trim(item_).empty())
      return bad_list(list_, "a '{' follows a name", "put a comma before the group");
    in_braces_ = true;
    group_start_ = items_.size();
    ++groups_;
    item_.clear();
    return {};
  }

  Result<void> close_group() {
    if (!in_braces_) return bad_list(list_, "a '}' has no '{' before it");
    LOFT_CHECK(finish_item());
    in_braces_ = false;
    after_braces_ = true;
    const std::string_view rest = list_.substr(at_ + 1);
    const std::string_view tail = rest.substr(0, std::min(rest.find(','), rest.size()));
    const std::string_view text = trim(tail);
    if (text.empty()) {
      at_ += tail.size();
      return {};
    }
    if (!text.starts_with(':'))
      return bad_list(list_, "text follows a '}'", "separate groups and events with commas");
    LOFT_CHECK(parse_modifiers(text.substr(1), list_));
    for (std::size_t i = group_start_; i < items_.size(); ++i)
      items_[i].group_modifiers = text.substr(1);
    at_ += tail.size();
    return {};
  }

  Result<void> finish_item() {
    const std::string_view text = trim(item_);
    if (text.empty())
      return bad_list(list_, "an event name is empty", "write one name between two commas");
    if (items_.size() == kMostEvents)
      return bad_list(list_, "it has more than " + std::to_string(kMostEvents) + " events");
    items_.push_back({std::string(text), in_braces_ ? groups_ : 0, {}});
    item_.clear();
    return {};
  }

  std::string_view list_;
  std::size_t at_ = 0;
  std::vector<ListItem> items_;
  std::string item_;
  std::size_t group_start_ = 0;
  std::uint32_t groups_ = 0;
  bool in_terms_ = false;
  bool in_braces_ = false;
  bool after_braces_ = false;
};

}  // namespace

std::string in_quotes(std::string_view name) {
  static constexpr std::size_t kShown = 80;
  if (name.size() <= kShown) return "'" + printable(name) + "'";
  return "'" + printable(name.substr(0, kShown)) + "...'";
}

Result<std::vector<ListItem>> split_list(std::string_view list) {
  if (list.size() > kLongestList) return bad_list(list, "it is longer than 1 MiB");
  return ListSplitter(list).run();
}

Result<void> check_name(std::string_view name) {
  const std::string what = "read the event name " + in_quotes(name);
  if (name.empty())
    return failure(ErrorKind::invalid_input, what, "it is empty", "'loft list' shows the names");
  if (name.size() > kLongestName)
    return failure(ErrorKind::invalid_input, what,
                   "it is longer than " + std::to_string(kLongestName) + " characters");
  const auto bad = std::find_if(name.begin(), name.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte <= 0x20 || byte >= 0x7F;
  });
  if (bad != name.end())
    return failure(ErrorKind::invalid_input, what,
                   "character " + std::to_string(bad - name.begin() + 1) +
                       " is a blank, a control character or not ASCII");
  return {};
}

Result<std::optional<PmuName>> split_pmu_name(std::string_view name) {
  const auto first = name.find('/');
  if (first == std::string_view::npos) return std::nullopt;
  const auto second = name.find('/', first + 1);
  const std::string what = "read the event name " + in_quotes(name);
  if (first == 0)
    return failure(ErrorKind::invalid_input, what, "no PMU stands before the '/'",
                   "write pmu/term=value/");
  if (second == std::string_view::npos)
    return failure(ErrorKind::invalid_input, what, "a '/' is never closed",
                   "write pmu/term=value/");
  std::string_view modifiers = name.substr(second + 1);
  if (modifiers.find('/') != std::string_view::npos)
    return failure(ErrorKind::invalid_input, what, "it has more than two slashes",
                   "write pmu/term=value/");
  if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
  return PmuName{name.substr(0, first), name.substr(first + 1, second - first - 1), modifiers};
}

bool looks_like_modifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ukhp") == std::string_view::npos;
}

Result<Modifiers> parse_modifiers(std::string_view text, std::string_view name) {
  const std::string what = "read the modifiers of " + in_quotes(name);
  Modifiers modifiers;
  if (text.find_first_of("ukh") != std::string_view::npos)
    modifiers.user = modifiers.kernel = modifiers.hypervisor = false;
  for (const char c : text) {
    if (c == 'p') {
      if (++modifiers.precise > 3)
        return failure(ErrorKind::invalid_input, what, "more than three p",
                       std::string(kModifierHint));
      continue;
    }
    bool* part = c == 'u'   ? &modifiers.user
                 : c == 'k' ? &modifiers.kernel
                 : c == 'h' ? &modifiers.hypervisor
                            : nullptr;
    if (part == nullptr)
      return failure(ErrorKind::invalid_input, what,
                     in_quotes(std::string_view(&c, 1)) + " is no modifier",
                     std::string(kModifierHint));
    if (*part)
      return failure(ErrorKind::invalid_input, what,
                     in_quotes(std::string_view(&c, 1)) + " stands there twice");
    *part = true;
  }
  return modifiers;
}

}  // namespace loft::event
