#include "cli/definitions.hpp"

namespace loft::cli {

void add_evset(Command& app, Action& action) {
  auto command = app.add_subcommand("evset", "Name a set of events");
  add_definition_commands(*command, event::Definition::Kind::set, action);
}

}  // namespace loft::cli
