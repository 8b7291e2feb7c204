#include "cli/definitions.hpp"

namespace loft::cli {

void add_event(Command& app, Action& action) {
  auto command = app.add_subcommand("event", "Give an encoding a name of your own");
  add_definition_commands(*command, event::Definition::Kind::event, action);
}

}  // namespace loft::cli
