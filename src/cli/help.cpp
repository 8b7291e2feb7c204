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

struct HelpExamples {
  const char* command;
  const char* lines[2];
};

// Each is shown behind "loft ".
constexpr HelpExamples kExamples[] = {
    {"doctor", {"doctor", "doctor --format json"}},
    {"list", {"list cache miss", "list --cpu skylake FP_ARITH"}},
    {"event",
     {"event add l3_miss cpu/event=0x2e,umask=0x41/", "stat -e cycles,l3_miss:u -- ./app"}},
    {"evset", {"evset add mine '{cycles,instructions}' page-faults", "stat -e mine:u -- ./app"}},
    {"stat",
     {"stat --per-thread -- ./app",
      "stat --by function -e instructions,flops,load_bytes -- ./app"}},
    {"run", {"run --papi -- ./app", "run --papi -- ./app input.dat > output"}},
    {"call",
     {"call parse -e instructions,load_bytes -- ./app input",
      "call 'solve*' -o calls.html -- ./app"}},
    {"metric", {"metric list", "metric eval --counts counts.json IPC"}},
    {"power",
     {"power fit --counts runs.csv --watts watts --model power.metric", "power apply --help"}},
    {"machine", {"machine", "machine show -o roofs.svg"}},
    {"env",
     {"env add quick --events page-faults -t 1 --types pmu,sched", "record --env quick -- ./app"}},
    {"record", {"record -g dwarf -o app.html -- ./app", "record --off-cpu -p 4711"}},
    {"report", {"report --children", "report app.data -o app.html"}},
    {"compare", {"compare before.data after.data", "compare a.json b.json -o changed.html"}},
    {"check",
     {"check --update --max 'instructions=+1%' base.json -- ./app",
      "check --max 'instructions=+1%' base.json -- ./app"}},
    {"roof", {"roof -- ./app", "roof -o roof.html -- ./app input.dat"}},
    {"annotate", {"annotate -- ./app", "annotate solve -o solve.html -- ./app"}},
    {"top", {"top", "top --batch -n 60 -e cycles,instructions --format csv"}},
    {"upc", {"upc unit.conf stimulus.txt", "upc --every 1000 unit.conf stimulus.txt"}},
    {"completion",
     {"completion bash > ~/.local/share/bash-completion/completions/loft",
      "completion fish > ~/.config/fish/completions/loft.fish"}},
};

}  // namespace

void add_examples(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    for (const HelpExamples& examples : kExamples) {
      if (command->get_name() != examples.command) continue;
      std::string text = "Examples:\n";
      for (const char* line : examples.lines) text += std::string("  loft ") + line + "\n";
      command->footer(text + "More: man loft-" + examples.command);
    }
  app.footer("Begin with: loft doctor; loft roof -- ./app\nMore: loft COMMAND --help, man loft");
}

void set_help_format(CLI::App& app) {
  auto formatter = std::make_shared<HelpFormatter>();
  formatter->column_width(34);
  app.formatter(std::move(formatter));
}

}  // namespace loft::cli
