// The rows of a report: what a profile counted, with names, shares and an order.
//
//   const Report report = make_report(summary, result, locations, history, options);
//   for (const ReportRow& row : report.rows) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sample/profile.hpp"
#include "sample/recording_summary.hpp"

namespace loft::sample {

enum class SortBy { period, samples, inclusive, name };

struct ReportOptions {
  std::vector<Dimension> by = {Dimension::function};
  SortBy sort = SortBy::period;
  bool rows = true;          // false: only what holds for the whole recording
  std::size_t top = 0;       // rows per event; 0 for all
  bool source_files = true;  // look up where the shown functions come from
  // The event whose samples share the energy of meters (sample/energy_share.hpp).
  std::optional<std::uint32_t> energy_shared_by = {};
};

// What a row is about; a part that its dimensions do not name is empty.
struct RowKeys {
  std::string function;
  bool function_is_named = false;
  std::string binary;
  std::string build_id;
  std::string file;
  std::uint32_t line = 0;
  std::string comm;
  std::optional<std::uint32_t> pid;
  std::optional<std::uint32_t> tid;
  std::optional<std::uint32_t> cpu;
};

struct ReportRow {
  std::uint32_t event = 0;
  RowKeys keys;
  Weight self;
  double share = 0;  // of the event's total, 0 to 1
  std::optional<Weight> inclusive;
  double inclusive_share = 0;
};

struct ReportEvent {
  std::string name;
  Weight total;
  bool period_is_known = true;  // recorded, or fixed; else shares are shares of samples
  bool is_time = false;         // the period counts nanoseconds
  bool has_stacks = false;      // its samples say who called
  bool is_energy = false;       // the period counts microjoules
  bool is_counted = false;      // all of it was counted; only the places are sampled: slices
  double shown_share = 1;       // what filters let through, 0 to 1
  std::string shared_by = {};   // modelled: the event whose samples say where the energy went
};

// The events in the order in which they are shown: first what was sampled to find where the time
// goes, with call stacks, then other times, then the rest as the recording has them.
[[nodiscard]] std::vector<std::uint32_t> shown_order(const std::vector<ReportEvent>& events);

struct Report {
  RecordingSummary summary;
  std::vector<Dimension> by;
  std::vector<ReportEvent> events;
  std::vector<ReportRow> rows;              // by shown_order(), then in the order asked for
  std::vector<std::size_t> rows_left_out;   // by event
  std::size_t threads = 0;                  // that had samples
  std::optional<std::uint64_t> first_time;  // of the samples counted
  std::optional<std::uint64_t> last_time;
  std::uint64_t filtered_out = 0;
};

[[nodiscard]] std::vector<ReportEvent> events_of(
    const std::vector<perf_data::EventDescription>& events, const ProfileResult& result);

[[nodiscard]] Report make_report(const RecordingSummary& summary, const ProfileResult& result,
                                 Locations& locations, const TaskHistory& history,
                                 const ReportOptions& options);

}  // namespace loft::sample
