#include "cli/help.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace loft::cli {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_group(std::string group, bool is_positional,
                         std::vector<const CLI::Option*> options) const override {
    if (group == kOldSpellings) return {};
    return CLI::Formatter::make_group(std::move(group), is_positional, std::move(options));
  }
};

}  // namespace

void set_help_format(CLI::App& app) {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  app.formatter(std::move(formatter));
}

}  // namespace loft::cli
