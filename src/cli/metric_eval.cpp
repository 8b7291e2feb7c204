// loft metric eval: metrics from counts that were taken earlier, or by other tools.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "base/text.hpp"
#include "cli/counts_at_hand.hpp"
#include "cli/metric_commands.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "metric/evaluation.hpp"
#include "metric/table.hpp"
#include "view/metric.hpp"

namespace loft::cli {
namespace {

struct EvalFlags {
  std::vector<std::string> names;
  std::string counts;
  double seconds = 0;
  MetricFlags metrics;
  OutputFlags output;
};

// The names given, or all metrics that these counts suffice for.
Result<std::vector<metric::Program>> chosen(const EvalFlags& flags, const metric::Library& library,
                                            const metric::Available& available) {
  const std::vector<std::string> names = split_names(flags.names);
  return names.empty() ? metric::compile_possible(library, available)
                       : metric::compile_all(library, names, available);
}

Result<std::string> evaluate_total(const EvalFlags& flags, const metric::Library& library,
                                   const metric::CountsFile& file, Format format) {
  const auto available = [&](std::string_view name) {
    const metric::Quantity* quantity = file.total.find(name);
    return quantity != nullptr && quantity->origin != sample::Origin::missing;
  };
  LOFT_TRY(const auto programs, chosen(flags, library, available));
  const auto metrics =
      metric::evaluate_all(programs, file.total, metric::estimate_groups(file.windows));
  if (format == Format::json) return view::metrics_json(metrics);
  if (format == Format::csv) return view::metrics_csv(metrics);
  return view::metrics_text(metrics);
}

Result<std::string> evaluate_rows(const EvalFlags& flags, const metric::Library& library,
                                  const metric::CountsFile& file, Format format) {
  const metric::TableColumns table(file);
  LOFT_TRY(const auto programs, chosen(flags, library, [&](std::string_view name) {
             return table.find(name) != nullptr;
           }));
  const auto columns = metric::evaluate_table(programs, table);
  return format == Format::json ? view::metric_columns_json(columns)
                                : view::metric_columns_csv(columns);
}

Result<int> run_eval(const EvalFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto library, load_metrics(flags.metrics, terminal));
  LOFT_TRY(metric::CountsFile file, read_counts_of(flags.counts, terminal));
  if (flags.seconds > 0)
    file.total.add("time", metric::Quantity::exact(metric::Number::real(flags.seconds)));
  LOFT_TRY(const auto result, file.rows > 0 ? evaluate_rows(flags, library, file, format)
                                            : evaluate_total(flags, library, file, format));
  LOFT_CHECK(write_result(flags.output, result, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_metric_eval(Command& metric, Action& action) {
  auto flags = std::make_shared<EvalFlags>();
  auto command = metric.add_subcommand("eval", "Evaluate metrics on counts from a file");
  command->add_option("NAME", flags->names, "the metrics (default: all that can be computed)");
  command
      ->add_option(
          "--counts", flags->counts,
          "counts as loft stat, perf stat -x or likwid-perfctr -O wrote them, a table, or a "
          "recording (perf.data)")
      ->required();
  command->add_option("--time", flags->seconds, "seconds that the counts took")
      ->check(above_zero());
  add_metric_flags(*command, flags->metrics);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_eval(*flags, terminal); };
  });
}

}  // namespace loft::cli
