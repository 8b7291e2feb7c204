#include "machine/file.hpp"

#include "base/file.hpp"
#include "base/text.hpp"
#include "machine/measure.hpp"
#include "machine/overrides.hpp"

namespace loft::machine {

std::string path_of(const std::string& identity) {
  return join_path(cache_directory(), "machine-" + identity + ".json");
}

Result<model::Machine> read(const std::string& path) {
  LOFT_TRY(const auto text, read_file(path));
  return from_json(text, path);
}

Result<model::Machine> load(const std::string& path, const SystemRoot& root) {
  LOFT_TRY(const auto overrides, read_overrides(overrides_path()));
  if (!path.empty()) {
    LOFT_TRY(auto machine, read(path));
    apply(overrides, machine);
    return machine;
  }
  LOFT_TRY(const auto identity, this_machine(root));
  const std::string own = path_of(identity);
  if (!file_exists(own))
    return failure(ErrorKind::not_found, "use the roofs of this machine",
                   "it has not been measured yet", "run 'loft machine' once");
  LOFT_TRY(auto machine, read(own));
  if (machine.identity != identity)
    return failure(ErrorKind::invalid_input, "use the machine file '" + printable(own) + "'",
                   "field 'identity' says that it is of another machine",
                   "name the file to use it nevertheless, or remove it and run 'loft machine'");
  apply(overrides, machine);
  return machine;
}

Result<void> may_replace(const std::string& path, const std::string& identity, bool own_only) {
  if (!file_exists(path)) return {};
  const auto there = read(path);
  if (!there) {
    Error error = there.error();
    error.what = "replace '" + printable(path) + "'";
    error.why = "what is there is no machine file (" + error.why + ")";
    error.hint = "remove it, or write elsewhere with -o";
    return tl::make_unexpected(std::move(error));
  }
  if (own_only && there->identity != identity)
    return failure(ErrorKind::invalid_input, "replace '" + printable(path) + "'",
                   "field 'identity' says that it is of another machine",
                   "remove it, or write elsewhere with -o");
  return {};
}

}  // namespace loft::machine
