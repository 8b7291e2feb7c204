#include "base/text.hpp"
#include "cli/command.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "view/catalogue.hpp"

namespace loft::cli {
namespace {

struct ListFlags {
  std::vector<std::string> words;
  std::string cpu;
  std::string root;
  OutputFlags output;
};

std::string written(const event::Catalogue& catalogue, const ListFlags& flags, Format format,
                    const Terminal& terminal) {
  if (format == Format::json) return view::catalogue_json(catalogue);
  if (format == Format::csv) return view::catalogue_csv(catalogue);
  const bool for_people = terminal.out_is_terminal() && flags.output.file.empty();
  return for_people ? view::catalogue_table(catalogue, terminal.columns())
                    : view::catalogue_lines(catalogue);
}

Result<int> run_list(const ListFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  event::ResolverOptions options = known_names();
  options.root = SystemRoot(flags.root);
  event::Catalogue catalogue;
  if (flags.cpu.empty()) {
    catalogue = event::list_events(options, flags.words);
  } else {
    LOFT_TRY(catalogue, event::list_events_of_cpu(flags.cpu, options, flags.words));
  }
  const std::string text = written(catalogue, flags, format, terminal);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  if (!terminal.flush()) return kLoftFailed;
  for (const std::string& note : catalogue.notes) terminal.note("note: " + printable(note) + "\n");
  return 0;
}

}  // namespace

void add_list(Command& app, Action& action) {
  auto flags = std::make_shared<ListFlags>();
  auto command = app.add_subcommand("list", "List the events that can be named, and from where");
  command->add_option("WORD", flags->words, "Show only events whose name or text has every word");
  command->add_option("--cpu", flags->cpu, "List those of another CPU, such as zen3 or skylake");
  add_output_flags(*command, flags->output);
  command->add_option("--root", flags->root,
                      "Read /sys and /proc of another machine below this folder");
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_list(*flags, terminal); };
  });
}

}  // namespace loft::cli
