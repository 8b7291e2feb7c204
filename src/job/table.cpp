#include "job/table.hpp"

#include "job/merge.hpp"

namespace loft::job {

void for_each_row(const RankSummary& summary, std::size_t step,
                  const std::function<void(const model::JobTableRow&)>& take) {
  model::JobTableRow row;
  row.job = summary.rank.job;
  row.step = step;
  row.node = summary.rank.node;
  row.rank = summary.rank.number;
  row.state = to_string(state_of(summary));
  const auto give = [&](std::string_view metric, std::string_view unit, sample::Origin origin,
                        std::optional<std::uint64_t> value) {
    row.metric = metric;
    row.unit = unit;
    row.kind = to_string(value ? origin : sample::Origin::missing);
    row.value = value;
    take(row);
  };
  using sample::Origin;
  const bool has_ended = summary.state == State::ended;
  give("wall", "ns", Origin::counted, has_ended ? std::optional(summary.wall_ns) : std::nullopt);
  if (summary.cpu_ns) give("cpu", "ns", Origin::counted, summary.cpu_ns);
  if (summary.sample_ns) give("sample", "ns", Origin::counted, summary.sample_ns);
  if (summary.mpi) {
    give("mpi", "ns", Origin::counted, summary.mpi->ns);
    if (summary.mpi->span_ns != 0) give("mpi-span", "ns", Origin::counted, summary.mpi->span_ns);
    give("mpi-calls", "", Origin::counted, summary.mpi->calls);
  }
  for (std::size_t i = 0; i < summary.columns.size(); ++i)
    give(summary.columns[i].name, summary.columns[i].unit, summary.columns[i].origin,
         summary.totals[i]);
  for (const FunctionRow& function : summary.functions) {
    row.function = function.name;
    row.binary = function.binary;
    row.in_mpi = function.in_mpi;
    for (std::size_t i = 0; i < summary.columns.size(); ++i)
      if (summary.columns[i].origin != Origin::missing)  // as the row of the rank says
        give(summary.columns[i].name, summary.columns[i].unit, summary.columns[i].origin,
             function.values[i]);
  }
}

}  // namespace loft::job
