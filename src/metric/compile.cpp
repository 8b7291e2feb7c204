#include "metric/compile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.hpp"
#include "metric/dimensions.hpp"
#include "metric/source.hpp"

namespace loft::metric {
namespace {

// All nested definitions of one metric together.
constexpr std::size_t kMostInstructions = 1'000'000;

// The definitions below `root` that were chosen, each after all that it needs.
std::vector<const Definition*> in_order(const Definition& root, const Choices& choices) {
  std::vector<const Definition*> order;
  std::set<const Definition*> seen{&root};
  std::vector<std::pair<const Definition*, std::size_t>> stack{{&root, 0}};
  while (!stack.empty()) {
    auto& [definition, next] = stack.back();
    if (next == definition->formula.names.size()) {
      order.push_back(definition);
      stack.pop_back();
      continue;
    }
    const auto choice = choices.find(definition->formula.names[next++]);
    if (choice == choices.end() || choice->second.definition == nullptr) continue;
    if (seen.insert(choice->second.definition).second)
      stack.emplace_back(choice->second.definition, 0);
  }
  return order;
}

}  // namespace

class Compiler {
 public:
  Compiler(const Library& library, const Choices& choices) : library_(library), choices_(choices) {}

  Result<Program> run(const Definition& root) {
    auto source = std::make_shared<Program::Source>();
    for (const Definition* definition : in_order(root, choices_)) {
      source_index_ = source->formulas.size();
      source->formulas.push_back(definition->formula);
      LOFT_CHECK(emit(*definition));
      if (definition->kind == DefinitionKind::model) program_.is_model_ = true;
    }
    source->origins = std::move(origins_);
    program_.source_ = std::move(source);
    program_.name_ = root.name;
    program_.description_ = root.description;
    program_.variant_ = root.variant;
    program_.model_error_ = root.error;
    program_.result_ = registers_.at(&root);
    program_.unit_ = unit_of(root);
    program_.dimension_ = dimensions_[program_.result_];
    return std::move(program_);
  }

 private:
  // The declared unit, else what the formula's dimension is called.
  [[nodiscard]] Unit unit_of(const Definition& root) const {
    if (root.unit) return *root.unit;
    const MaybeDimension& dimension = dimensions_[program_.result_];
    if (!dimension || dimension->is_plain()) return {};
    return {*dimension, 1, to_string(*dimension)};
  }

  std::uint32_t add(Instruction instruction, MaybeDimension dimension, std::size_t step) {
    program_.code_.push_back(instruction);
    dimensions_.push_back(std::move(dimension));
    origins_.push_back(
        {static_cast<std::uint32_t>(source_index_), static_cast<std::uint32_t>(step)});
    return static_cast<std::uint32_t>(program_.code_.size() - 1);
  }

  Result<void> emit(const Definition& definition) {
    const Formula& formula = definition.formula;
    if (program_.code_.size() + formula.steps.size() > kMostInstructions)
      return failure(
          ErrorKind::limit, fmt::format("use the metric '{}'", definition.name),
          fmt::format("with all it needs it has more than {} operations", kMostInstructions));
    std::vector<std::uint32_t> stack;
    for (std::size_t i = 0; i < formula.steps.size(); ++i) {
      const Step& step = formula.steps[i];
      if (step.op == Op::number) {
        stack.push_back(literal(formula.numbers[step.index], definition.checks_units, i));
      } else if (step.op == Op::name) {
        stack.push_back(name(formula.names[step.index], definition.checks_units, i));
      } else {
        LOFT_TRY(const auto result, operation(definition, step, i, stack));
        stack.push_back(result);
      }
    }
    registers_[&definition] = stack.back();
    return declare(definition, stack.back());
  }

  std::uint32_t literal(const Literal& literal, bool checks_units, std::size_t step) {
    const Number value = in_base_units(literal);
    MaybeDimension dimension;
    if (literal.unit) {
      dimension = literal.unit->dimension;
    } else if (checks_units && !value.is_zero()) {
      dimension = Dimension{};  // 0 fits every unit
    }
    program_.literals_.push_back(value);
    return add({Op::number, static_cast<std::uint32_t>(program_.literals_.size() - 1), 0, 0},
               dimension, step);
  }

  // Formulas of other tools carry no units: there an event has the number that counting it shows,
  // nanoseconds and not seconds.
  std::uint32_t name(const std::string& name, bool checks_units, std::size_t step) {
    const std::uint32_t base = in_base_units_of(name, step);
    const Unit* unit = program_.code_[base].op == Op::name ? library_.event_unit(name) : nullptr;
    if (checks_units || unit == nullptr || unit->factor == 1) return base;
    if (const auto known = in_own_unit_.find(name); known != in_own_unit_.end())
      return known->second;
    program_.literals_.push_back(Number::real(1 / unit->factor));
    const auto literal = static_cast<std::uint32_t>(program_.literals_.size() - 1);
    const std::uint32_t factor = add({Op::number, literal, 0, 0}, MaybeDimension{}, step);
    const std::uint32_t made = add({Op::multiply, base, factor, 0}, MaybeDimension{}, step);
    in_own_unit_.emplace(name, made);
    return made;
  }

  std::uint32_t in_base_units_of(const std::string& name, std::size_t step) {
    const auto choice = choices_.find(name);
    if (choice != choices_.end() && choice->second.definition != nullptr)
      return registers_.at(choice->second.definition);
    if (const auto known = named_.find(name); known != named_.end()) return known->second;
    std::uint32_t made = 0;
    if (choice != choices_.end() && choice->second.constant != nullptr) {
      const Constant& constant = *choice->second.constant;
      program_.constants_.push_back(constant);
      program_.literals_.push_back(constant.value);
      MaybeDimension dimension;
      if (constant.unit) dimension = constant.unit->dimension;
      made = add({Op::number, static_cast<std::uint32_t>(program_.literals_.size() - 1), 0, 0},
                 dimension, step);
    } else {
      const Unit* unit = library_.event_unit(name);
      MaybeDimension dimension = unit == nullptr ? Dimension{} : unit->dimension;
      if (choice != choices_.end() && choice->second.gives != nullptr)
        dimension = *choice->second.gives;
      program_.inputs_.push_back(name);
      made = add({Op::name, static_cast<std::uint32_t>(program_.inputs_.size() - 1), 0, 0},
                 std::move(dimension), step);
    }
    named_.emplace(name, made);
    return made;
  }

  Result<std::uint32_t> operation(const Definition& definition, const Step& step, std::size_t index,
                                  std::vector<std::uint32_t>& stack) {
    Instruction instruction{step.op, 0, 0, 0};
    std::uint32_t* operands[] = {&instruction.a, &instruction.b, &instruction.c};
    const auto count = static_cast<std::size_t>(arity(step.op));
    for (std::size_t i = 0; i < count; ++i) *operands[i] = stack[stack.size() - count + i];
    stack.resize(stack.size() - count);
    const auto dimension = [&](std::uint32_t at) { return dimensions_[at]; };
    auto combined = combine(
        step.op, dimension(instruction.a), count > 1 ? dimension(instruction.b) : std::nullopt,
        count > 2 ? dimension(instruction.c) : std::nullopt, literal_value(instruction.b));
    if (!combined) {
      if (definition.checks_units) return unit_failure(definition, step.column, combined.error());
      combined = MaybeDimension{};
    }
    return add(instruction, *combined, index);
  }

  [[nodiscard]] std::optional<double> literal_value(std::uint32_t at) const {
    const Instruction& instruction = program_.code_[at];
    if (instruction.op != Op::number) return std::nullopt;
    return program_.literals_[instruction.a].as_double();
  }

  static Failure unit_failure(const Definition& definition, unsigned column, const Error& error) {
    return failure(ErrorKind::invalid_input, fmt::format("use the metric '{}'", definition.name),
                   fmt::format("{}, formula column {}: {}",
                               to_string(Place{definition.place.file, definition.place.line, 0}),
                               column, error.why),
                   error.hint);
  }

  // What a definition says its unit is must be what its formula gives.
  Result<void> declare(const Definition& definition, std::uint32_t at) {
    if (!definition.unit) return {};
    MaybeDimension& dimension = dimensions_[at];
    if (definition.checks_units && dimension && *dimension != definition.unit->dimension)
      return failure(
          ErrorKind::invalid_input, fmt::format("use the metric '{}'", definition.name),
          fmt::format("{}: it is declared in [{}] and its formula gives [{}]",
                      to_string(definition.place), definition.unit->text, to_string(*dimension)),
          "give numbers their units, as in 64 [B], and events theirs with 'event NAME [unit]'");
    // A register of a plain event or constant is shared: only a result may take the declared unit.
    if (!dimension) dimension = definition.unit->dimension;
    return {};
  }

  const Library& library_;
  const Choices& choices_;
  Program program_;
  std::vector<MaybeDimension> dimensions_;
  std::vector<Program::Source::Origin> origins_;
  std::unordered_map<const Definition*, std::uint32_t> registers_;
  std::unordered_map<std::string, std::uint32_t> named_;
  std::unordered_map<std::string, std::uint32_t> in_own_unit_;
  std::size_t source_index_ = 0;
};

namespace {

Result<Program> compile_variants(const Library& library, const std::string& name,
                                 const std::vector<const Definition*>& variants,
                                 const Available& available) {
  LOFT_TRY(const Choices choices, choose(library, name, variants, available));
  const auto root = choices.find(name);
  const Definition* definition = root != choices.end() && root->second.definition != nullptr
                                     ? root->second.definition
                                     : variants.front();
  return Compiler(library, choices).run(*definition);
}

}  // namespace

Result<Program> compile_one(const Library& library, const Definition& definition,
                            const Choices& choices) {
  return Compiler(library, choices).run(definition);
}

Result<Program> compile(const Library& library, const std::string& name,
                        const Available& available) {
  const auto variants = library.find(name);
  if (variants.empty()) {
    const auto names = library.names();
    const auto near = nearest(name, names);
    return failure(ErrorKind::not_found, fmt::format("find the metric '{}'", name),
                   "no metric file defines it",
                   near.empty() ? "'loft metric list' shows what there is"
                                : fmt::format("did you mean {}?", join(near, ", ")));
  }
  return compile_variants(library, name, variants, available);
}

Result<Program> compile(const Library& library, const Definition& definition,
                        const Available& available) {
  return compile_variants(library, definition.name, {&definition}, available);
}

std::string Program::divisor_text(std::size_t instruction) const {
  const Source::Origin& origin = source_->origins[instruction];
  return operand_text(source_->formulas[origin.formula], origin.step);
}

std::vector<std::string> Program::divisors() const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < code_.size(); ++i) {
    const bool divides = code_[i].op == Op::divide || code_[i].op == Op::remainder;
    if (!divides || code_[code_[i].b].op == Op::number) continue;
    std::string text = divisor_text(i);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return texts;
}

}  // namespace loft::metric
