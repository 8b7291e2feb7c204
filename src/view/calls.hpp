// Calls of functions as text, CSV or JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sample/calls.hpp"

namespace loft::view {

// What of a run is shown: everything, or one of its tables.
enum class CallTables { all, functions, slowest, tree, list };

struct CallViewOptions {
  CallTables tables = CallTables::all;
  std::size_t rows = 20;  // of each table
};

// "1 call", "4,200 calls": `one` is the word for one of them.
std::string number_of(std::uint64_t count, std::string_view one);

// Whether a quantity is known of the nodes of the tree, and not of single calls alone.
[[nodiscard]] bool is_known_of_tree(const sample::CallRun& run, std::size_t quantity);

// Who measured, for people.
std::string route_text(const sample::CallRun& run);

std::string calls_text(const sample::CallRun& run, const CallViewOptions& options = {});

// One line per function; with CallTables::slowest or list one per call, with tree one per node.
std::string calls_csv(const sample::CallRun& run, const CallViewOptions& options = {});

// One object, schema "loft.call/1", with all that is known.
std::string calls_json(const sample::CallRun& run);

}  // namespace loft::view
