// What 'loft event' and 'loft evset' share: both keep names of the user's own in one file.
#pragma once

#include <memory>
#include <string>

#include "cli/command.hpp"
#include "event/definitions.hpp"

namespace loft::cli {

// Adds "add", "list" and "remove" below `command`.
void add_definition_commands(Command& command, event::Definition::Kind kind, Action& action);

}  // namespace loft::cli
