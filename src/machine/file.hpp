// The machine file: JSON with the schema "loft.machine/1", one per machine, in the user's cache.
//
//   LOFT_TRY(const auto machine, load(named_or_empty));    // with the user's overrides applied
//   LOFT_CHECK(replace_file(path_of(machine.identity), to_json(machine)));
//
// A file is never trusted: every field is checked, and an error names the one that is wrong. A file
// that is not a machine file is not overwritten.
#pragma once

#include <string>
#include <string_view>

#include "base/places.hpp"
#include "base/result.hpp"
#include "model/machine_model.hpp"

namespace loft::machine {

inline constexpr std::string_view kSchema = "loft.machine/1";

std::string to_json(const model::Machine& machine);
// `name` is for the error's words.
[[nodiscard]] Result<model::Machine> from_json(std::string_view text, const std::string& name);

// $XDG_CACHE_HOME/loft/machine-IDENTITY.json
std::string path_of(const std::string& identity);

// Exactly this file, of whatever machine.
[[nodiscard]] Result<model::Machine> read(const std::string& path);

// The file called `path`; with an empty path the one of this machine, which must be of this
// machine. Overrides are applied. Kind not_found when this machine was not measured yet.
[[nodiscard]] Result<model::Machine> load(const std::string& path = {},
                                          const SystemRoot& root = {});

// Refuses to replace what is there unless that is a machine file, of the same machine when
// `own_only` is set.
[[nodiscard]] Result<void> may_replace(const std::string& path, const std::string& identity,
                                       bool own_only);

}  // namespace loft::machine
