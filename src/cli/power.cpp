// loft power: fit a power model from counters; apply one where there is no meter.
#include <fmt/format.h>

#include <memory>

#include "base/file.hpp"
#include "base/places.hpp"
#include "base/text.hpp"
#include "cli/metric_library.hpp"
#include "cli/output.hpp"
#include "metric/counts_file.hpp"
#include "metric/evaluation.hpp"
#include "metric/reader.hpp"
#include "metric/table.hpp"
#include "model/power.hpp"
#include "model/power_table.hpp"
#include "view/metric.hpp"
#include "view/power.hpp"

namespace loft::cli {
namespace {

struct FitFlags {
  std::string counts;
  model::PowerColumns columns;
  std::vector<std::string> events;  // each a list
  std::string name = "power";
  std::string model;
  unsigned blocks = 5;
  bool non_negative = false;
  OutputFlags output;
};

Result<metric::CountsFile> read_table(const std::string& path) {
  LOFT_TRY(const auto text, read_file(path, std::size_t{1} << 30));
  return metric::read_counts(path, text);
}

Result<int> run_fit(const FitFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto file, read_table(flags.counts));
  if (file.rows == 0)
    return failure(ErrorKind::invalid_input, "fit a power model",
                   fmt::format("'{}' is no table with one row for each measurement", flags.counts),
                   "give a CSV file with a header: program,time,EVENT,...,watts");
  model::PowerColumns columns = flags.columns;
  for (const std::string& list : flags.events)
    for (const std::string_view name : split(list, ',')) columns.predictors.emplace_back(name);
  LOFT_TRY(const auto data, model::power_data_of(file, columns));
  const auto method =
      flags.non_negative ? model::FitMethod::non_negative : model::FitMethod::least_squares;
  LOFT_TRY(const auto fit, model::fit_power(data, {method, flags.blocks}));
  if (!flags.model.empty())
    LOFT_CHECK(replace_file(flags.model,
                            metric::write_loft(model::power_model_file(data, fit, flags.name))));
  const std::string text =
      format == Format::json ? view::power_fit_json(data, fit) : view::power_fit_text(data, fit);
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

struct ApplyFlags {
  std::string model;
  std::string counts;
  double seconds = 0;
  std::vector<std::string> defines;
  OutputFlags output;
};

// A path, or the name of a model that is installed with loft.
std::string model_path(const std::string& name) {
  const std::string installed = join_path(share_directory(), "metrics/power/" + name + ".metrics");
  return !file_exists(name) && file_exists(installed) ? installed : name;
}

Result<std::vector<metric::Program>> models_of(const metric::Library& library,
                                               const std::string& path) {
  std::vector<metric::Program> models;
  for (const std::string& name : library.names()) {
    const auto variants = library.find(name);
    if (variants[0]->kind != metric::DefinitionKind::model || variants[0]->place.file != path)
      continue;
    LOFT_TRY(auto program, metric::compile(library, name));
    models.push_back(std::move(program));
  }
  if (models.empty())
    return failure(ErrorKind::invalid_input, fmt::format("apply '{}'", path), "it defines no model",
                   "'loft power fit --model FILE' writes one");
  return models;
}

Result<int> run_apply(const ApplyFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  const std::string path = model_path(flags.model);
  LOFT_TRY(const auto library, load_metrics({{path}, flags.defines, {}}, terminal));
  LOFT_TRY(const auto models, models_of(library, path));
  LOFT_TRY(metric::CountsFile file, read_table(flags.counts));
  if (flags.seconds > 0)
    file.total.add("time", metric::Quantity::exact(metric::Number::real(flags.seconds)));
  std::string text;
  if (file.rows > 0) {
    const auto columns = evaluate_table(models, metric::TableColumns(file));
    text = format == Format::json ? view::metric_columns_json(columns)
                                  : view::metric_columns_csv(columns);
  } else {
    const auto metrics = metric::evaluate_all(models, file.total);
    text = format == Format::json  ? view::metrics_json(metrics)
           : format == Format::csv ? view::metrics_csv(metrics)
                                   : view::metrics_text(metrics);
  }
  LOFT_CHECK(write_result(flags.output, text, Stream::out, terminal));
  return 0;
}

void add_fit(Command& power, Action& action) {
  auto flags = std::make_shared<FitFlags>();
  auto command = power.add_subcommand("fit", "Fit watts to event rates, with the held-out error");
  command->add_option("--counts", flags->counts, "a CSV table: one row for each measurement")
      ->required();
  command->add_option("--watts", flags->columns.watts, "the column with the measured power")
      ->required();
  command->add_option("--program", flags->columns.program,
                      "the column that names the program; whole ones are held out");
  command->add_option("--by", flags->columns.program, "")->hide();
  command
      ->add_option("--blocks", flags->blocks,
                   "without --program: hold out so many contiguous blocks")
      ->check(between(2u, 1000u))
      ->capture_default_str();
  command->add_option("--time", flags->columns.time, "the column with seconds; counts become rates")
      ->capture_default_str();
  command->add_option("-e,--event", flags->events, "predictors (default: all other columns)")
      ->allow_extra_args(false);
  command->add_flag("--non-negative", flags->non_negative, "no coefficient below 0");
  command->add_option("--name", flags->name, "what the model is called")->capture_default_str();
  command->add_option("--model", flags->model, "write the model to this metric file");
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_fit(*flags, terminal); };
  });
}

void add_apply(Command& power, Action& action) {
  auto flags = std::make_shared<ApplyFlags>();
  auto command = power.add_subcommand("apply", "Estimate power from counts with a model");
  command->add_option("--model", flags->model, "a model file, or core-i7 or power7-p750")
      ->required();
  command->add_option("--counts", flags->counts, "counts as 'loft metric eval' takes them")
      ->required();
  command->add_option("--time", flags->seconds, "seconds that the counts took")
      ->check(above_zero());
  command->add_option("-D,--define", flags->defines, "set a constant: NAME=VALUE")
      ->allow_extra_args(false);
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_apply(*flags, terminal); };
  });
}

}  // namespace

void add_power(Command& app, Action& action) {
  auto command = app.add_subcommand("power", "Fit and apply power models made of counters");
  command->require_subcommand(1);
  add_fit(*command, action);
  add_apply(*command, action);
}

}  // namespace loft::cli
