// loft upc: the counter unit at work. Loads a configuration, plays a stimulus, tells counts and
// interrupts over time.
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "base/file.hpp"
#include "base/units.hpp"
#include "cli/output.hpp"
#include "upc/play.hpp"
#include "view/csv.hpp"

namespace loft::cli {
namespace {

using nlohmann::ordered_json;

struct UpcFlags {
  std::string configuration;
  std::string stimulus;
  std::uint64_t every = 0;
  std::uint64_t limit = 1'000'000'000;
  OutputFlags output;
};

std::string text_of(const std::optional<std::uint64_t>& count) {
  return count ? with_separators(*count) : "upset";
}

std::string totals_text(const upc::Setup& setup, const upc::Played& played) {
  std::string text = fmt::format("{:<24} {:>6} {:>8} {:<8} {:>20} {:>20}\n", "name", "event",
                                 "counter", "mode", "count", "threshold");
  for (std::size_t i = 0; i < setup.events.size(); ++i) {
    const upc::SelectedEvent& event = setup.events[i];
    text += fmt::format("{:<24} {:>6} {:>8} {:<8} {:>20} {:>20}\n", event.name, event.event,
                        setup.sizes.counter_of(event.event), upc::mode_name(event.mode),
                        text_of(played.readings.back().counts[i]),
                        event.threshold != 0 ? with_separators(event.threshold) : "-");
  }
  return text;
}

std::string readings_text(const upc::Setup& setup, const upc::Played& played) {
  std::string text = fmt::format("\n{:>14}", "cycle");
  for (const upc::SelectedEvent& event : setup.events) text += fmt::format("  {:>14}", event.name);
  text += "\n";
  for (const upc::Reading& reading : played.readings) {
    text += fmt::format("{:>14}", with_separators(reading.cycle));
    for (std::size_t i = 0; i < setup.events.size(); ++i)
      text += fmt::format("  {:>{}}", text_of(reading.counts[i]),
                          std::max<std::size_t>(14, setup.events[i].name.size()));
    text += "\n";
  }
  return text;
}

std::string upc_text(const upc::Setup& setup, const upc::Played& played) {
  const upc::Geometry& sizes = setup.sizes;
  std::string text = fmt::format(
      "{} counters of {} + {} bits, {} events; every word is visited once in {} cycles\n"
      "played {} cycles\n\n",
      with_separators(sizes.counters), sizes.low_bits, sizes.high_bits,
      with_separators(sizes.events()), with_separators(sizes.round()),
      with_separators(played.cycles));
  text += totals_text(setup, played);
  if (played.readings.size() > 1) text += readings_text(setup, played);
  if (!played.interrupts.empty()) text += "\n";
  for (const upc::Interrupt& interrupt : played.interrupts)
    text += fmt::format("interrupt in cycle {}: {} came to {}\n", with_separators(interrupt.cycle),
                        setup.events[interrupt.event].name, with_separators(interrupt.count));
  for (const upc::ParityReport& error : played.parity_errors)
    text += fmt::format("parity error in cycle {}: the memory word of counter {} was upset\n",
                        with_separators(error.cycle), error.counter);
  return text;
}

std::string upc_csv(const upc::Setup& setup, const upc::Played& played) {
  std::string text = "kind,cycle,name,counter,count\n";
  const auto row = [&](std::string_view kind, std::uint64_t cycle, std::size_t i,
                       const std::optional<std::uint64_t>& count) {
    text += fmt::format("{},{},{},{},{}\n", kind, cycle, view::csv_field(setup.events[i].name),
                        setup.sizes.counter_of(setup.events[i].event),
                        count ? std::to_string(*count) : "");
  };
  for (const upc::Reading& reading : played.readings)
    for (std::size_t i = 0; i < setup.events.size(); ++i)
      row("count", reading.cycle, i, reading.counts[i]);
  for (const upc::Interrupt& interrupt : played.interrupts)
    row("interrupt", interrupt.cycle, interrupt.event, interrupt.count);
  for (const upc::ParityReport& error : played.parity_errors)
    text += fmt::format("parity error,{},,{},\n", error.cycle, error.counter);
  return text;
}

ordered_json count_json(const std::optional<std::uint64_t>& count) {
  return count ? ordered_json(*count) : ordered_json(nullptr);
}

std::string upc_json(const upc::Setup& setup, const upc::Played& played) {
  const upc::Geometry& sizes = setup.sizes;
  ordered_json json{{"schema", "loft.upc/1"},
                    {"unit",
                     {{"counters", sizes.counters},
                      {"inputs", sizes.inputs},
                      {"low_bits", sizes.low_bits},
                      {"high_bits", sizes.high_bits},
                      {"cycles_per_word", sizes.cycles_per_word},
                      {"group", sizes.group}}},
                    {"cycles", played.cycles},
                    {"counters", ordered_json::array()},
                    {"readings", ordered_json::array()},
                    {"interrupts", ordered_json::array()},
                    {"parity_errors", ordered_json::array()}};
  for (std::size_t i = 0; i < setup.events.size(); ++i) {
    const upc::SelectedEvent& event = setup.events[i];
    const auto& count = played.readings.back().counts[i];
    ordered_json row{{"name", event.name},
                     {"event", event.event},
                     {"counter", sizes.counter_of(event.event)},
                     {"mode", upc::mode_name(event.mode)},
                     {"value", count_json(count)},
                     {"kind", count ? "counted" : "missing"}};
    if (!count) row["why"] = "the memory word was upset: its parity is wrong";
    if (event.threshold != 0) row["threshold"] = event.threshold;
    json["counters"].push_back(std::move(row));
  }
  for (const upc::Reading& reading : played.readings) {
    ordered_json values = ordered_json::object();
    for (std::size_t i = 0; i < setup.events.size(); ++i)
      values[setup.events[i].name] = count_json(reading.counts[i]);
    json["readings"].push_back({{"cycle", reading.cycle}, {"values", std::move(values)}});
  }
  for (const upc::Interrupt& interrupt : played.interrupts)
    json["interrupts"].push_back({{"cycle", interrupt.cycle},
                                  {"name", setup.events[interrupt.event].name},
                                  {"count", interrupt.count}});
  for (const upc::ParityReport& error : played.parity_errors)
    json["parity_errors"].push_back({{"cycle", error.cycle}, {"counter", error.counter}});
  return json.dump(2) + "\n";
}

Result<int> run_upc(const UpcFlags& flags, Terminal& terminal) {
  LOFT_TRY(const Format format, choose_format(flags.output));
  LOFT_TRY(const auto configuration, read_file(flags.configuration));
  LOFT_TRY(const auto setup, upc::parse_setup(configuration, flags.configuration));
  LOFT_TRY(const auto text, read_file(flags.stimulus));
  LOFT_TRY(const auto stimulus, upc::parse_stimulus(text, flags.stimulus, setup, flags.limit));
  LOFT_TRY(const auto played, upc::play(setup, stimulus, flags.every));
  const std::string result = format == Format::json  ? upc_json(setup, played)
                             : format == Format::csv ? upc_csv(setup, played)
                                                     : upc_text(setup, played);
  LOFT_CHECK(write_result(flags.output, result, Stream::out, terminal));
  return 0;
}

}  // namespace

void add_upc(Command& app, Action& action) {
  auto flags = std::make_shared<UpcFlags>();
  auto command = app.add_subcommand("upc", "Play event lines on Blue Gene/P's counter unit");
  command->add_option("configuration", flags->configuration, "sizes, events and thresholds")
      ->required();
  command->add_option("stimulus", flags->stimulus, "what happens on the event lines")->required();
  command->add_option("--every", flags->every, "also show the counters every so many cycles");
  command->add_option("--limit", flags->limit, "refuse a stimulus of more cycles")
      ->capture_default_str();
  add_output_flags(*command, flags->output);
  command->callback([flags, &action] {
    action = [flags](Terminal& terminal) { return run_upc(*flags, terminal); };
  });
}

}  // namespace loft::cli
