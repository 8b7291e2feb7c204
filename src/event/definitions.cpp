#include "event/definitions.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <optional>

#include "base/file.hpp"
#include "base/text.hpp"
#include "event/grammar.hpp"
#include "event/kernel_names.hpp"
#include "event/text_file.hpp"

namespace loft::event {
namespace {

constexpr std::size_t kLongestOwnName = 64;
constexpr std::string_view kLineHint = "write 'event NAME = ENCODING' or 'set NAME = EVENT, EVENT'";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

bool is_name_character(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

// Cuts "first rest" at the first blank.
std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  const auto blank = std::min(text.find_first_of(" \t"), text.size());
  return {text.substr(0, blank), trim(text.substr(blank))};
}

// The value's own syntax; whether its names exist depends on the machine and is not asked here.
Result<void> check_value(Definition::Kind kind, std::string_view text) {
  LOFT_TRY(const auto items, split_list(text));
  for (const ListItem& item : items) LOFT_CHECK(check_name(item.text));
  if (kind == Definition::Kind::event && (items.size() != 1 || items[0].group != 0))
    return failure(ErrorKind::invalid_input, "read the encoding " + in_quotes(text),
                   "an event is one encoding", "name several with a set");
  return {};
}

// Nothing for blank lines and comments.
Result<std::optional<Definition>> parse_line(std::string_view line, std::size_t number,
                                             const std::string& path) {
  const auto hash = line.find('#');
  const std::string_view body = trim(line.substr(0, hash));
  if (body.empty()) return std::nullopt;
  const auto at = [&](std::string_view part) {
    return part.empty() ? body.size() + column_of(line, body) : column_of(line, part);
  };
  const auto [word, rest] = first_word(body);
  Definition definition;
  if (word == "set") {
    definition.kind = Definition::Kind::set;
  } else if (word != "event") {
    return malformed_at(path, number, at(word), in_quotes(word) + " is neither event nor set",
                        std::string(kLineHint));
  }
  const auto equals = rest.find('=');
  if (equals == std::string_view::npos)
    return malformed_at(path, number, body.size() + column_of(line, body), "a '=' is missing",
                        std::string(kLineHint));
  const std::string_view name = trim(rest.substr(0, equals));
  if (const auto good = check_own_name(name); !good)
    return malformed_at(path, number, at(name), good.error().why, good.error().hint);
  const std::string_view value = trim(rest.substr(equals + 1));
  if (const auto good = check_value(definition.kind, value); !good)
    return malformed_at(path, number, at(value), good.error().why, good.error().hint);
  definition.name = name;
  definition.text = value;
  if (hash != std::string_view::npos) definition.description = trim(line.substr(hash + 1));
  return definition;
}

std::string line_for(const Definition& definition) {
  std::string line =
      std::string(word_of(definition.kind)) + " " + definition.name + " = " + definition.text;
  if (!definition.description.empty()) line += "  # " + definition.description;
  return line;
}

}  // namespace

std::string_view word_of(Definition::Kind kind) {
  return kind == Definition::Kind::event ? "event" : "set";
}

Result<void> check_own_name(std::string_view name) {
  const std::string what = "use the name " + in_quotes(name);
  if (name.empty() || !is_letter(name.front()) || name.size() > kLongestOwnName ||
      !std::all_of(name.begin(), name.end(), is_name_character))
    return failure(
        ErrorKind::invalid_input, what,
        name.empty() ? "the name is missing" : "it cannot be written in a list of events",
        "a name has letters, digits, '_', '-' and '.', starts with a letter, and is at "
        "most 64 long");
  const bool is_raw = name.front() == 'r' && parse_hex(name.substr(1));
  const bool is_word = name == "pfm" || name == "sysfs" || name == "raw" || name == "tracepoint" ||
                       name == "virtual";
  if (is_raw || is_word || name.starts_with("PAPI_") || find_kernel_event(name))
    return failure(ErrorKind::invalid_input, what, "it has a meaning on every machine already",
                   "choose a name of your own");
  return {};
}

Result<Definitions> Definitions::load(const std::string& directory) {
  const std::string path = join_path(directory, kFileName);
  auto text = read_file(path, kLargestTextFile);
  if (!text && text.error().kind == ErrorKind::not_found) text = std::string();
  if (!text) return tl::make_unexpected(text.error());
  return parse(*text, path);
}

Result<Definitions> Definitions::parse(std::string_view text, std::string path) {
  Definitions result;
  result.path_ = std::move(path);
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.empty()) return result;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t number = result.lines_.size() + 1;
    LOFT_TRY(const auto definition, parse_line(line, number, result.path_));
    result.lines_.emplace_back(line);
    if (!definition) continue;
    if (result.find(definition->name) != nullptr)
      return malformed_at(result.path_, number,
                          column_of(line, line.substr(line.find(definition->name))),
                          in_quotes(definition->name) + " is defined twice", "remove one of them");
    result.definitions_.push_back(*definition);
    result.line_of_.push_back(number - 1);
  }
  return result;
}

const Definition* Definitions::find(std::string_view name) const {
  const auto found = std::find_if(definitions_.begin(), definitions_.end(),
                                  [&](const Definition& own) { return own.name == name; });
  return found == definitions_.end() ? nullptr : &*found;
}

Result<void> Definitions::add(const Definition& definition, bool replace) {
  LOFT_CHECK(check_own_name(definition.name));
  LOFT_CHECK(check_value(definition.kind, definition.text));
  const std::string what =
      "define the " + std::string(word_of(definition.kind)) + " " + in_quotes(definition.name);
  const std::string line = line_for(definition);
  const auto one_line = [](std::string_view text) {
    return text.find_first_of("\n#") == std::string_view::npos && printable(text) == text;
  };
  if (!one_line(definition.text) || !one_line(definition.description))
    return failure(ErrorKind::invalid_input, what,
                   "its text has a line break, a control character or a '#'");
  const Definition* old = find(definition.name);
  if (old == nullptr) {
    lines_.push_back(line);
    definitions_.push_back(definition);
    line_of_.push_back(lines_.size() - 1);
    return {};
  }
  if (!replace || old->kind != definition.kind)
    return failure(ErrorKind::invalid_input, what,
                   "there is a " + std::string(word_of(old->kind)) + " of this name already",
                   "remove it first, or give --replace for one of the same kind");
  const auto index = static_cast<std::size_t>(old - definitions_.data());
  definitions_[index] = definition;
  lines_[line_of_[index]] = line;
  return {};
}

Result<void> Definitions::remove(Definition::Kind kind, std::string_view name) {
  const Definition* old = find(name);
  if (old == nullptr || old->kind != kind) {
    std::vector<std::string> known;
    for (const Definition& own : definitions_)
      if (own.kind == kind) known.push_back(own.name);
    const auto near = nearest(name, known);
    return failure(ErrorKind::not_found,
                   "remove the " + std::string(word_of(kind)) + " " + in_quotes(name),
                   "there is none of this name in '" + path_ + "'",
                   near.empty() ? std::string() : "did you mean " + join(near, ", ") + "?");
  }
  const auto index = old - definitions_.data();
  const std::size_t line = line_of_[static_cast<std::size_t>(index)];
  lines_.erase(lines_.begin() + static_cast<std::ptrdiff_t>(line));
  definitions_.erase(definitions_.begin() + index);
  line_of_.erase(line_of_.begin() + index);
  for (std::size_t& other : line_of_)
    if (other > line) --other;
  return {};
}

Result<Fd> Definitions::hold(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  Fd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open() || ::flock(fd.get(), LOCK_EX) != 0)
    return failure_of_errno(errno, "change the names in '" + directory + "'");
  return fd;
}

Result<void> Definitions::save() const {
  return replace_file(path_, lines_.empty() ? std::string() : join(lines_, "\n") + "\n");
}

}  // namespace loft::event
