// How --help looks, and what it leaves out: old spellings of flags, which are understood all the
// same.
//
//   set_help_format(app);                        // before commands are added, which inherit it
//   add_examples(app);                           // when they are
//   option->group(kOldSpellings);
#pragma once

namespace CLI {
class App;
}

namespace loft::cli {

// A group of flags. With no group at all the parser would not even name the flag in its errors.
inline constexpr const char* kOldSpellings = "Old spellings";

void set_help_format(CLI::App& app);

// At the end of each command's help: two examples, and where more is.
void add_examples(CLI::App& app);

}  // namespace loft::cli
