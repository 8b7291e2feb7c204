#include "metric/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <unordered_map>

#include "metric/compile.hpp"

namespace loft::metric {
namespace {

// Values in expect lines are written by people: six digits are meant.
constexpr double kTolerance = 1e-6;

// Compiles each definition once, with the definitions that it names as inputs of known dimension:
// the time is linear in the size of the library, however metrics nest.
class Singles {
 public:
  struct Single {
    Result<Program> program = failure(ErrorKind::limit, "", "");
    std::size_t depth = 0;  // of definitions that nest in it
  };

  explicit Singles(const Library& library) : library_(library) {}

  const Single& of(const Definition& definition) {
    const Definition& root = in_library(definition);
    std::vector<Frame> stack;
    if (!done_.contains(&root)) stack.push_back(open(root));
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.next == frame.needed.size()) {
        finish(frame);
        stack.pop_back();
        continue;
      }
      const Definition& needed = *frame.needed[frame.next++];
      if (done_.contains(&needed)) continue;
      if (open_.contains(&needed)) {
        refuse_circle(stack, needed);
        continue;
      }
      stack.push_back(open(needed));
    }
    return done_.at(&root);
  }

 private:
  struct Frame {
    const Definition* definition = nullptr;
    std::vector<const Definition*> needed;
    std::size_t next = 0;
    std::string problem;
  };

  // The library's own copy of a definition of a file: the one that others lead to.
  [[nodiscard]] const Definition& in_library(const Definition& definition) const {
    for (const Definition* known : library_.find(definition.name))
      if (known->variant == definition.variant && known->place.file == definition.place.file &&
          known->place.line == definition.place.line)
        return *known;
    return definition;
  }

  // The definition behind a name; none behind constants and events. An alias is the event.
  [[nodiscard]] const Definition* nested(const std::string& name) const {
    if (library_.find_constant(name) != nullptr) return nullptr;
    const auto variants = library_.find(name);
    const bool is_metric = std::ranges::any_of(
        variants, [](const Definition* variant) { return variant->kind != DefinitionKind::alias; });
    return is_metric ? variants.front() : nullptr;
  }

  Frame open(const Definition& definition) {
    open_.insert(&definition);
    Frame frame{&definition, {}, 0, {}};
    for (const std::string& name : definition.formula.names)
      if (const Definition* needed = nested(name)) frame.needed.push_back(needed);
    return frame;
  }

  static void refuse_circle(std::vector<Frame>& stack, const Definition& again) {
    constexpr std::size_t kLongestPath = 20;
    const auto first = std::ranges::find(stack, &again, &Frame::definition);
    std::string path;
    std::size_t shown = 0;
    for (auto frame = first; frame != stack.end(); ++frame)
      if (++shown <= kLongestPath) path += frame->definition->name + " -> ";
    if (shown > kLongestPath) path += fmt::format("({} more) -> ", shown - kLongestPath);
    for (auto frame = first; frame != stack.end(); ++frame)
      frame->problem = fmt::format("its definition leads back to itself: {}{}; break the circle",
                                   path, again.name);
  }

  void finish(Frame& frame) {
    const Definition& definition = *frame.definition;
    open_.erase(&definition);
    Single single;
    Choices choices;
    for (const std::string& name : definition.formula.names) {
      if (const Constant* constant = library_.find_constant(name)) {
        choices[name] = {nullptr, constant, true, nullptr};
        continue;
      }
      const Definition* needed = nested(name);
      const auto known = needed == nullptr ? done_.end() : done_.find(needed);
      if (known == done_.end()) continue;
      single.depth = std::max(single.depth, known->second.depth + 1);
      const auto& program = known->second.program;
      choices[name] = {nullptr, nullptr, true, program ? &program->dimension() : &unknown_};
      if (!program && needed->place.file != definition.place.file && frame.problem.empty())
        frame.problem = fmt::format("it needs '{}', which is wrong: {}", name, program.error().why);
    }
    if (single.depth >= kDeepestNesting && frame.problem.empty())
      frame.problem = fmt::format("more than {} definitions nest in each other", kDeepestNesting);
    single.program = frame.problem.empty()
                         ? compile_one(library_, definition, choices)
                         : Result<Program>(failure(ErrorKind::invalid_input, "", frame.problem));
    done_.emplace(&definition, std::move(single));
  }

  const Library& library_;
  std::set<const Definition*> open_;
  std::unordered_map<const Definition*, Single> done_;
  const std::optional<Dimension> unknown_;
};

class Checker {
 public:
  Checker(const Library& library, const EventTest& is_event)
      : library_(library), is_event_(is_event), singles_(library) {}

  void definition(const Definition& definition) {
    ++result_.definitions;
    const Result<Program>& program = singles_.of(definition).program;
    if (!program) {
      complain(
          definition, Severity::error,
          program.error().why + (program.error().hint.empty() ? "" : "; " + program.error().hint));
      return;
    }
    names(definition, *program);
    divisors(definition, *program);
    for (const Expectation& expectation : definition.expectations) expect(definition, expectation);
  }

  CheckResult take() { return std::move(result_); }

 private:
  void complain(const Definition& definition, Severity severity, std::string text) {
    result_.diagnostics.push_back(
        {severity, definition.place, fmt::format("{}: {}", definition.name, text)});
  }

  // Units are not asked for here: the events of `program` are those of its definitions.
  void names(const Definition& definition, const Program& program) {
    if (!is_event_) return;
    for (const std::string& name : program.inputs()) {
      if (name == "time" || !library_.find(name).empty()) continue;
      const auto [known, is_new] = reasons_.try_emplace(name);
      if (is_new) known->second = is_event_(name);
      if (!known->second.empty())
        complain(
            definition, Severity::warning,
            fmt::format("'{}' is no constant, no metric and no event: {}", name, known->second));
    }
  }

  void divisors(const Definition& definition, const Program& program) {
    for (const Step& step : definition.formula.steps) {
      if (step.op != Op::divide && step.op != Op::remainder) continue;
      const auto at = static_cast<std::size_t>(&step - definition.formula.steps.data());
      const Step& before = definition.formula.steps[at - 1];
      if (before.op == Op::number && definition.formula.numbers[before.index].value.is_zero())
        complain(definition, Severity::error, "it always divides by 0");
    }
    for (const std::string& divisor : program.divisors())
      complain(definition, Severity::note, fmt::format("not available when {} is 0", divisor));
  }

  void expect(const Definition& definition, const Expectation& expectation) {
    CountSet counts;
    std::optional<Library> changed;  // only where a constant must change: libraries are large
    for (const auto& [name, value] : expectation.counts) {
      counts.add(name, Quantity::exact(value));
      // A constant in an expect line is meant to have that value there.
      if (const Constant* constant = library_.find_constant(name)) {
        if (!changed) changed = library_;
        changed->add(Constant{name, value, constant->unit, "expect line"}, Tier::command);
      }
    }
    const auto program =
        compile(changed ? *changed : library_, definition,
                [&](std::string_view name) { return counts.find(name) != nullptr; });
    if (!program) return;  // compiled before; a variant that does not is no fault of this one
    const Value value = program->evaluate(counts);
    const std::string problem = difference(expectation, *program, value);
    if (problem.empty()) {
      ++result_.expectations;
    } else {
      result_.diagnostics.push_back(
          {Severity::error, expectation.place, fmt::format("{}: {}", definition.name, problem)});
    }
  }

  // What an expectation and a value disagree about; empty when they agree.
  static std::string difference(const Expectation& expectation, const Program& program,
                                const Value& value) {
    if (!value.number) {
      if (!expectation.value) return {};
      return fmt::format("{} was expected, and it is not available: {}", *expectation.value,
                         value.why);
    }
    const double got = program.in_unit(value.number->as_double());
    if (!expectation.value) return fmt::format("n/a was expected, and it is {}", got);
    const double bound = kTolerance * std::max(std::fabs(*expectation.value), std::fabs(got));
    if (std::fabs(got - *expectation.value) <= bound) return {};
    return fmt::format("{} was expected, and it is {}", *expectation.value, got);
  }

  const Library& library_;
  const EventTest& is_event_;
  Singles singles_;
  std::map<std::string, std::string> reasons_;  // of names that are no events
  CheckResult result_;
};

}  // namespace

std::size_t CheckResult::count(Severity severity) const {
  return static_cast<std::size_t>(std::ranges::count(diagnostics, severity, &Diagnostic::severity));
}

EventTest events_known_to(event::Resolver& resolver) {
  return [&resolver](const std::string& name) -> std::string {
    const auto events = resolver.resolve_list(name);
    return events ? std::string() : events.error().why;
  };
}

CheckResult check_definitions(const Library& library, const MetricFile& file,
                              const EventTest& is_event) {
  Checker checker(library, is_event);
  for (const Definition& definition : file.definitions) checker.definition(definition);
  return checker.take();
}

CheckResult check_files(Library library, std::span<const MetricFile> files,
                        const EventTest& is_event) {
  CheckResult all;
  for (const MetricFile& file : files) {
    const auto before = static_cast<std::ptrdiff_t>(library.diagnostics().size());
    library.add(file, Tier::command);
    // The file's own, and what only shows among several: names that two of them define.
    std::copy(library.diagnostics().begin() + before, library.diagnostics().end(),
              std::back_inserter(all.diagnostics));
  }
  for (const MetricFile& file : files) {
    CheckResult one = check_definitions(library, file, is_event);
    std::ranges::move(one.diagnostics, std::back_inserter(all.diagnostics));
    all.definitions += one.definitions;
    all.expectations += one.expectations;
  }
  return all;
}

}  // namespace loft::metric
