// Every command has a man page that names all its flags, and no page outlives its command.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <set>

#include "base/file.hpp"
#include "base/text.hpp"

namespace loft {
namespace {

const std::string kPages = LOFT_SOURCE_DIR "/docs/man";

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             ::pclose);
  std::string text;
  char buffer[4096];
  while (pipe != nullptr) {
    const std::size_t got = std::fread(buffer, 1, sizeof buffer, pipe.get());
    if (got == 0) break;
    text.append(buffer, got);
  }
  return text;
}

bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '-'; }

std::string_view first_word(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_name_character(text[length])) ++length;
  return text.substr(0, length);
}

// The names below "Subcommands:", each at the start of a line behind two blanks.
std::set<std::string> commands_in(std::string_view help) {
  std::set<std::string> names;
  bool inside = false;
  for (const std::string_view line : split(help, '\n')) {
    const bool is_entry = line.starts_with("  ");
    if (!is_entry && !line.empty()) inside = line == "Subcommands:";
    if (inside && is_entry && line.size() > 2 && is_name_character(line[2]))
      names.emplace(first_word(line.substr(2)));
  }
  return names;
}

// The long flags that a help text describes: "  -e,--event TEXT ..." has --event.
std::set<std::string> flags_in(std::string_view help) {
  std::set<std::string> flags;
  for (const std::string_view line : split(help, '\n')) {
    if (!line.starts_with("  -")) continue;
    const std::string_view names = line.substr(2, line.find(' ', 2) - 2);
    for (const std::string_view name : split(names, ',')) {
      if (name.starts_with("--")) flags.emplace(first_word(name));
    }
  }
  flags.erase("--help");
  return flags;
}

bool names_flag(std::string_view page, std::string_view flag) {
  for (auto at = page.find(flag); at != std::string_view::npos; at = page.find(flag, at + 1)) {
    const auto end = at + flag.size();
    if (end == page.size() || !is_name_character(page[end])) return true;
  }
  return false;
}

TEST(ManPage, CommandsAndFlagsAreReadFromHelp) {
  const std::string_view help =
      "Usage: loft [OPTIONS] SUBCOMMAND\n\nOptions:\n  -h,--help          Print\n"
      "  -e,--event TEXT ...    Which\n  --per-thread  see --system\n\n"
      "Subcommands:\n  stat       Run\n             and count\n  list       List\n";
  EXPECT_EQ(commands_in(help), (std::set<std::string>{"list", "stat"}));
  EXPECT_EQ(flags_in(help), (std::set<std::string>{"--event", "--per-thread"}));
}

TEST(ManPage, AFlagIsNotNamedByALongerOne) {
  EXPECT_FALSE(names_flag("*--event-set*", "--event"));
  EXPECT_TRUE(names_flag("*--event-set*, *--event* _LIST_", "--event"));
}

TEST(ManPage, EveryCommandHasOneThatNamesItsFlags) {
  const auto commands = commands_in(output_of(LOFT_PROGRAM " --help"));
  EXPECT_TRUE(commands.contains("completion"));
  for (const std::string& command : commands) {
    const std::string path = kPages + "/loft-" + command + ".1.scd";
    const auto page = read_file(path);
    if (!page) {
      ADD_FAILURE() << "loft " << command << " has no man page: write " << path;
      continue;
    }
    for (const std::string& flag : flags_in(output_of(LOFT_PROGRAM " " + command + " --help")))
      EXPECT_TRUE(names_flag(*page, flag)) << path << " does not name " << flag;
  }
}

TEST(ManPage, DescribesACommandThatExists) {
  const auto commands = commands_in(output_of(LOFT_PROGRAM " --help"));
  const auto pages = list_directory(kPages);
  ASSERT_TRUE(pages);
  for (const std::string& page : *pages) {
    if (!page.starts_with("loft-") || !page.ends_with(".1.scd")) continue;
    const std::string command = page.substr(5, page.size() - 5 - 6);
    EXPECT_TRUE(commands.contains(command)) << page << " describes no command of loft";
  }
}

}  // namespace
}  // namespace loft
