#include "papi/user_events.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "engine/classify/events.hpp"
#include "event/resolver.hpp"
#include "metric/load.hpp"
#include "metric/request.hpp"
#include "sample/count.hpp"

namespace loft::papi {
namespace {

const std::vector<event::VirtualName>& virtual_names() {
  static const std::vector<event::VirtualName> names = [] {
    std::vector<event::VirtualName> table;
    for (const engine::EventInfo& info : engine::event_table())
      table.push_back({info.name, info.unit == "bytes" ? "B" : "", info.description, table.size(),
                       event::VirtualKind::exact});
    return table;
  }();
  return names;
}

event::ResolverOptions known_names() {
  event::ResolverOptions options;
  options.virtual_names = virtual_names;
  options.plain_names = event::PlainNames::virtual_first;
  return options;
}

// Numbers of its inputs' events among the terms; several are added up.
struct Input {
  std::vector<std::size_t> terms;
  bool is_time = false;
};

class MetricFormula : public Formula {
 public:
  MetricFormula(metric::Program program, std::vector<std::uint32_t> terms,
                std::vector<Input> inputs)
      : program_(std::move(program)), terms_(std::move(terms)), inputs_(std::move(inputs)) {}

  [[nodiscard]] const std::vector<std::uint32_t>& terms() const override { return terms_; }

  [[nodiscard]] std::optional<double> evaluate(std::span<const std::uint64_t> counts,
                                               double seconds) const override {
    std::vector<metric::Quantity> operands;
    for (const Input& input : inputs_) {
      std::uint64_t sum = 0;
      for (const std::size_t term : input.terms) sum += counts[term];
      operands.push_back(input.is_time ? metric::Quantity::exact(metric::Number::real(seconds))
                                       : metric::Quantity::of(sample::Count::exact(sum)));
    }
    const metric::Value value = program_.evaluate(operands);
    if (!value.number) return std::nullopt;
    return program_.in_unit(value.number->as_double());
  }

  [[nodiscard]] std::string description() const override { return program_.description(); }
  [[nodiscard]] std::string unit() const override { return program_.unit().text; }

 private:
  metric::Program program_;
  std::vector<std::uint32_t> terms_;
  std::vector<Input> inputs_;
};

Result<std::shared_ptr<const Formula>> make_formula(metric::Request request) {
  const auto cannot = [&](const std::string& why) {
    return failure(ErrorKind::unsupported,
                   fmt::format("count '{}'", request.programs.front().name()), why);
  };
  std::vector<std::uint32_t> terms;
  for (const event::Event& event : request.events) {
    if (!event.encoding.is_virtual() || event.encoding.config >= engine::event_table().size())
      return cannot(
          fmt::format("'{}' is not counted inside of a run by the virtual PMU", event.name));
    terms.push_back(static_cast<std::uint32_t>(event.encoding.config));
  }
  std::vector<Input> inputs;
  for (const metric::Operand& operand : request.operands.front()) {
    if (!operand.is_time && operand.events.empty()) return cannot(operand.why);
    inputs.push_back({operand.events, operand.is_time});
  }
  return std::make_shared<const MetricFormula>(std::move(request.programs.front()),
                                               std::move(terms), std::move(inputs));
}

Result<void> check(const std::string& path) {
  metric::Library library;
  metric::load_path(library, path, metric::Tier::command);
  for (const metric::Diagnostic& diagnostic : library.diagnostics())
    if (diagnostic.severity == metric::Severity::error)
      return failure(ErrorKind::invalid_input, fmt::format("load the events of '{}'", path),
                     to_string(diagnostic), "'loft metric check' shows all mistakes");
  return {};
}

std::vector<std::string> own_names(const metric::LoadOptions& all) {
  metric::LoadOptions options = all;
  options.shared = false;
  const auto library = metric::load_library(options);
  return library ? library->names() : std::vector<std::string>{};
}

}  // namespace

struct UserEvents::State {
  metric::LoadOptions options;
  metric::Library library;
  mutable event::Resolver resolver{known_names()};
  std::size_t of_libloft = 0;  // files that were taken from there

  void reload() {
    if (auto loaded = metric::load_library(options)) library = *std::move(loaded);
  }
};

UserEvents::UserEvents() : state_(std::make_unique<State>()) { state_->reload(); }
UserEvents::~UserEvents() = default;

Result<void> UserEvents::load(const std::string& path) {
  LOFT_CHECK(check(path));
  state_->options.files.push_back(path);
  state_->reload();
  return {};
}

bool UserEvents::load_those_of_libloft() {
  using NameOfFile = const char*(std::size_t);
  auto* file = reinterpret_cast<NameOfFile*>(::dlsym(RTLD_DEFAULT, "loft_metrics_file"));
  bool has_more = false;
  while (const char* path = file == nullptr ? nullptr : file(state_->of_libloft)) {
    ++state_->of_libloft;
    has_more = true;
    static_cast<void>(load(path));  // it was checked when it was loaded there
  }
  return has_more;
}

std::vector<std::string> UserEvents::names() const { return own_names(state_->options); }

bool UserEvents::is_known(std::string_view name) const {
  return !state_->library.find(name).empty();
}

Result<std::shared_ptr<const Formula>> UserEvents::find(std::string_view name) const {
  LOFT_TRY(auto request,
           metric::read_request({std::string(name)}, state_->resolver, state_->library));
  if (request.programs.size() != 1)
    return failure(ErrorKind::invalid_input, fmt::format("count '{}'", name), "it is no metric");
  return make_formula(std::move(request));
}

}  // namespace loft::papi
