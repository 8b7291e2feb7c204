#include "cli/source_flag.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "source/choice/sources.hpp"

namespace loft::cli {
namespace {

constexpr std::string_view kAnySource = "auto";
constexpr std::string_view kOldPerfEvents = "counters";  // what loft roof called it

std::vector<std::string> words_and(const std::vector<std::string>& more) {
  std::vector<std::string> words{std::string(kAnySource)};
  std::ranges::move(source::source_names(), std::back_inserter(words));
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

std::optional<sample::Source> SourceFlag::asked() const {
  if (word == kOldPerfEvents) return sample::Source::perf_events;
  return sample::source_named(word);
}

void add_source_flag(Command& command, SourceFlag& flag, const std::string& description,
                     const std::vector<std::string>& more) {
  const std::vector<std::string> words = words_and(more);
  Rule known = one_of(words);
  known.problem = [listed = known.problem](std::string& word) {
    return word == kOldPerfEvents ? std::string() : listed(word);
  };
  command.add_option("--source", flag.word, description + ": " + join(words, ", "))->check(known);
}

}  // namespace loft::cli
