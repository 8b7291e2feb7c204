// How 'loft list' shows a catalogue: a table for people, lines for pipes, CSV and JSON for
// programs.
#pragma once

#include <string>

#include "event/catalogue.hpp"

namespace loft::view {

// Names in a column, descriptions cut at the width of the terminal.
std::string catalogue_table(const event::Catalogue& catalogue, int columns);

// One line each: name, origin and description between tabs.
std::string catalogue_lines(const event::Catalogue& catalogue);

std::string catalogue_csv(const event::Catalogue& catalogue);

// {"schema":"loft.list/1","events":[{"name","origin","description","unit"?,...}],"notes":[...]}
std::string catalogue_json(const event::Catalogue& catalogue);

}  // namespace loft::view
