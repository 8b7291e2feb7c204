#include "cli/definitions.hpp"

#include <nlohmann/json.hpp>

#include "base/places.hpp"
#include "base/text.hpp"
#include "cli/names.hpp"
#include "cli/output.hpp"
#include "event/resolver.hpp"
#include "view/csv.hpp"

namespace loft::cli {
namespace {

using event::Definition;
using event::Definitions;

struct DefinitionFlags {
  Definition definition;
  std::vector<std::string> text;
  OutputFlags output;
  bool replace = false;
  bool unchecked = false;
};

// A name that means something here already would never be reached.
Result<void> check_free(const std::string& name) {
  event::ResolverOptions options = known_names();
  options.config_directory = "";  // what is not the user's own
  const auto taken = event::Resolver(options).resolve_list(name);
  if (!taken) return {};
  return failure(ErrorKind::invalid_input, "define '" + name + "'",
                 "this machine has an event of this name already (" + taken->front().origin + ")",
                 "choose another name");
}

Result<int> run_add(const DefinitionFlags& flags, Terminal& terminal) {
  Definition definition = flags.definition;
  definition.text = join(flags.text, ",");
  LOFT_TRY(const Fd held, Definitions::hold(config_directory()));
  LOFT_TRY(Definitions own, Definitions::load(config_directory()));
  LOFT_CHECK(own.add(definition, flags.replace));
  LOFT_CHECK(check_free(definition.name));
  if (!flags.unchecked) LOFT_CHECK(event::Resolver(known_names()).resolve_list(definition.text));
  LOFT_CHECK(own.save());
  terminal.note("'" + definition.name + "' is in " + printable(own.path()) + "\n");
  return 0;
}

Result<int> run_remove(const DefinitionFlags& flags, Terminal&) {
  LOFT_TRY(const Fd held, Definitions::hold(config_directory()));
  LOFT_TRY(Definitions own, Definitions::load(config_directory()));
  LOFT_CHECK(own.remove(flags.definition.kind, flags.definition.name));
  LOFT_CHECK(own.save());
  return 0;
}

std::string as_text(const std::vector<Definition>& all) {
  std::string text;
  for (const Definition& definition : all)
    text += printable(definition.name) + "\t" + printable(definition.text) + "\t" +
            printable(definition.description) + "\n";
  return text;
}

std::string as_csv(const std::vector<Definition>& all) {
  std::string text = "name,text,description\n";
  for (const Definition& definition : all)
    text += view::csv_field(definition.name) + "," + view::csv_field(definition.text) + "," +
            view::csv_field(definition.description) + "\n";
  return text;
}

std::string as_json(const std::vector<Definition>& all, Definition::Kind kind,
                    const std::string& path) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const Definition& definition : all)
    list.push_back({{"name", definition.name},
                    {"text", definition.text},
                    {"description", definition.description}});
  const bool is_set = kind == Definition::Kind::set;
  const Json whole{{"schema", is_set ? "loft.evset/1" : "loft.event/1"},
                   {"file", path},
                   {is_set ? "sets" : "events", std::move(list)}};
  return whole.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<int> run_list(const DefinitionFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const Definitions own, Definitions::load(config_directory()));
  std::vector<Definition> all = own.all();
  const Definition::Kind kind = flags.definition.kind;
  std::erase_if(all, [&](const Definition& definition) { return definition.kind != kind; });
  const std::string text = format == Format::json  ? as_json(all, kind, own.path())
                           : format == Format::csv ? as_csv(all)
                                                   : as_text(all);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_definition_commands(Command& command, Definition::Kind kind, Action& action) {
  const bool is_set = kind == Definition::Kind::set;
  auto flags = std::make_shared<DefinitionFlags>();
  flags->definition.kind = kind;
  command.require_subcommand(1);

  auto add = command.add_subcommand("add", is_set ? "Name a set of events" : "Name an encoding");
  add->add_option("NAME", flags->definition.name, "The new name")->required();
  add->add_option(is_set ? "EVENTS" : "ENCODING", flags->text,
                  is_set ? "Events of the set, separated by commas or blanks"
                         : "What it stands for, such as cpu/event=0x2e,umask=0x41/")
      ->required();
  add->add_option("--description", flags->definition.description, "One line that says what it is");
  add->add_flag("--replace", flags->replace, "Replace one of the same name");
  add->add_flag("--unchecked", flags->unchecked, "Keep it even if this machine cannot count it");
  add->callback([flags, &action] { action = [flags](Terminal& t) { return run_add(*flags, t); }; });

  auto list = command.add_subcommand("list", is_set ? "Show your sets" : "Show your events");
  add_output_flags(*list, flags->output);
  list->callback(
      [flags, &action] { action = [flags](Terminal& t) { return run_list(*flags, t); }; });

  auto remove = command.add_subcommand("remove", is_set ? "Forget a set" : "Forget an event");
  remove->add_option("NAME", flags->definition.name, "Its name")->required();
  remove->callback(
      [flags, &action] { action = [flags](Terminal& t) { return run_remove(*flags, t); }; });
}

}  // namespace loft::cli
