// loft env: name sets of recording flags, for 'loft record --env NAME'.
#include <nlohmann/json.hpp>

#include "base/places.hpp"
#include "base/text.hpp"
#include "cli/output.hpp"
#include "cli/recording_flags.hpp"
#include "event/definitions.hpp"
#include "view/csv.hpp"

namespace loft::cli {
namespace {

struct EnvFlags {
  std::string name;
  RecordingFlags what;
  OutputFlags output;
  bool replace = false;
};

Failure unknown(const std::string& name) {
  return failure(ErrorKind::not_found, "find the environment '" + name + "'",
                 "there is none of this name", "'loft env list' shows those that there are");
}

Result<int> run_add(const EnvFlags& flags, Terminal& terminal) {
  if (flags.name.empty() || printable(flags.name) != flags.name)
    return failure(ErrorKind::invalid_input, "name an environment", "it is no readable name",
                   "use letters, digits and dashes");
  if (to_text(flags.what).empty())
    return failure(ErrorKind::invalid_input, "add the environment '" + flags.name + "'",
                   "it has no flags", "give some, such as -t 1 --types pmu,sched");
  LOFT_TRY(const Fd held, event::Definitions::hold(config_directory()));
  LOFT_TRY(Environments all, load_environments(config_directory()));
  if (all.contains(flags.name) && !flags.replace)
    return failure(ErrorKind::invalid_input, "add the environment '" + flags.name + "'",
                   "there is one of this name already", "add --replace");
  all[flags.name] = flags.what;
  LOFT_CHECK(save_environments(all, config_directory()));
  terminal.note("'" + flags.name + "' is in " + printable(environments_file(config_directory())) +
                "\n");
  return 0;
}

Result<int> run_remove(const EnvFlags& flags, Terminal&) {
  LOFT_TRY(const Fd held, event::Definitions::hold(config_directory()));
  LOFT_TRY(Environments all, load_environments(config_directory()));
  if (all.erase(flags.name) == 0) return unknown(flags.name);
  LOFT_CHECK(save_environments(all, config_directory()));
  return 0;
}

Result<int> run_list(const EnvFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const Environments all, load_environments(config_directory()));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string lines = format == Format::csv ? "name,flags\n" : "";
  for (const auto& [name, what] : all) {
    list.push_back({{"name", name}, {"flags", to_text(what)}});
    lines += format == Format::csv
                 ? view::csv_field(name) + "," + view::csv_field(to_text(what)) + "\n"
                 : printable(name) + "\t" + printable(to_text(what)) + "\n";
  }
  if (format == Format::json) {
    const nlohmann::ordered_json whole{{"schema", "loft.env/1"},
                                       {"file", environments_file(config_directory())},
                                       {"environments", std::move(list)}};
    lines = whole.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  LOFT_CHECK(write_result(flags.output, lines, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_env(Command& app, Action& action) {
  auto flags = std::make_shared<EnvFlags>();
  auto command = app.add_subcommand("env", "Name a set of recording options");
  command->require_subcommand(1);

  auto add = command->add_subcommand("add", "Name a set of recording options");
  add->add_option("NAME", flags->name, "The new name")->required();
  add_recording_flags(*add, flags->what);
  add->add_flag("--replace", flags->replace, "Replace one of the same name");
  add->callback([flags, &action] { action = [flags](Terminal& t) { return run_add(*flags, t); }; });

  auto list = command->add_subcommand("list", "Show your environments");
  add_output_flags(*list, flags->output);
  list->callback(
      [flags, &action] { action = [flags](Terminal& t) { return run_list(*flags, t); }; });

  auto remove = command->add_subcommand("remove", "Forget an environment");
  remove->add_option("NAME", flags->name, "Its name")->required();
  remove->callback(
      [flags, &action] { action = [flags](Terminal& t) { return run_remove(*flags, t); }; });
}

}  // namespace loft::cli
