// What went wrong, why, and what a person can do about it.
//
//   return failure(ErrorKind::permission, "open cycles on cpu 3",
//                  "EACCES, perf_event_paranoid is 3", "grant CAP_PERFMON to loft");
//
// Callers branch on `kind` alone; the texts are for people.
#pragma once

#include <string>
#include <string_view>

namespace loft {

enum class ErrorKind {
  invalid_input,    // what the user wrote is wrong
  malformed,        // bytes of a file are not what their format says
  not_found,        // a name, file or process that does not exist
  permission,       // exists, but not for us
  unsupported,      // this machine, kernel or build cannot do it
  limit,            // a limit of the system was reached (descriptors, memory, counters)
  no_such_command,  // the program to run does not exist
  cannot_execute,   // it exists but could not be started
  io,               // reading or writing failed
  internal,         // a promise inside loft was broken
};

struct Error {
  ErrorKind kind = ErrorKind::internal;
  std::string what;  // "open instructions:u on cpu 3"
  std::string why;   // "EACCES, perf_event_paranoid is 3"
  std::string hint;  // "grant CAP_PERFMON, or set it to 1 with sysctl"
};

// "EACCES (Permission denied)": the name to search for and the words to read.
std::string describe_errno(int number);

// The kind that an errno of an ordinary system call stands for.
ErrorKind kind_of_errno(int number);

// "cannot WHAT: WHY; HINT", on one line, safe for a terminal.
std::string to_string(const Error& error);

}  // namespace loft
