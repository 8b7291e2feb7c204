// Our own format: one statement a line, what belongs to a metric indented below it.
//
//   variant intel
//   const LINE = 64 [B]
//   event  DRAM_READS [line]
//   metric read_bandwidth [B/s] = LINE * DRAM_READS / time
//       "Bytes read from memory per second"
//       expect DRAM_READS = 1000, time = 0.5 -> 128000
//       expect DRAM_READS = 1000, time = 0 -> n/a
#include <fmt/format.h>

#include "base/text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// A '#' that stands alone begins a comment; one before a letter may belong to a name.
std::string_view without_comment(std::string_view line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && (i == 0 || is_blank(line[i - 1])) &&
               (i == 0 || i + 1 == line.size() || is_blank(line[i + 1]))) {
      return line.substr(0, i);
    }
  }
  return line;
}

std::string_view without_quotes(std::string_view text) {
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
    return text.substr(1, text.size() - 2);
  return text;
}

class LoftReader {
 public:
  explicit LoftReader(const std::string& name) { file_.name = name; }

  MetricFile read(std::string_view text) {
    for (const std::string_view whole : split(text, '\n')) {
      ++line_;
      raw_ = whole;
      const std::string_view line = without_comment(whole);
      const std::string_view body = trim(line);
      if (body.empty()) continue;
      if (is_blank(line[0])) {
        detail(body);
      } else {
        finish();
        statement(body);
      }
    }
    finish();
    return std::move(file_);
  }

 private:
  void complain(std::string_view at, std::string text) {
    file_.complain(line_, static_cast<unsigned>(at.data() - raw_.data()) + 1, std::move(text));
  }

  void finish() {
    if (current_) file_.define(*std::exchange(current_, std::nullopt));
    skipping_ = false;
  }

  void statement(std::string_view line) {
    const auto blank = std::min(line.find_first_of(" \t"), line.size());
    const std::string_view word = line.substr(0, blank);
    const std::string_view rest = trim(line.substr(blank));
    if (word == "variant") {
      variant_ = std::string(without_quotes(rest));
    } else if (word == "group") {
      group_ = std::string(without_quotes(rest));
    } else if (word == "const") {
      constant(rest);
    } else if (word == "event") {
      event(rest);
    } else if (word == "metric") {
      definition(DefinitionKind::metric, rest);
    } else if (word == "model") {
      definition(DefinitionKind::model, rest);
    } else if (word == "alias") {
      definition(DefinitionKind::alias, rest);
    } else {
      skipping_ = true;
      complain(line, fmt::format("'{}' begins no statement; metric, model, alias, const, event, "
                                 "group or variant was expected",
                                 word));
    }
  }

  struct Head {
    std::string name;
    std::optional<Unit> unit;
    std::string_view rest;
    bool good = false;
  };

  // NAME [unit], and what follows.
  Head head(std::string_view text) {
    Head head;
    std::size_t end = 0;
    if (!text.empty() && (text[0] == '"' || text[0] == '\'')) {
      end = std::min(text.find(text[0], 1), text.size() - 1) + 1;
      head.name = std::string(without_quotes(text.substr(0, end)));
    } else {
      end = std::min(text.find_first_of(" \t[="), text.size());
      head.name = std::string(text.substr(0, end));
    }
    head.rest = trim(text.substr(end));
    if (head.name.empty()) {
      complain(text, "a name was expected");
      return head;
    }
    head.good = bracket(head.rest, head.unit);
    return head;
  }

  // Takes a leading "[unit]" off `text`, if there is one; complains about one that is wrong.
  bool bracket(std::string_view& text, std::optional<Unit>& unit) {
    if (!text.starts_with('[')) return true;
    const auto close = text.find(']');
    if (close == std::string_view::npos) {
      complain(text, "this '[' is never closed");
      return false;
    }
    const auto parsed = parse_unit(text.substr(1, close - 1));
    if (!parsed) {
      complain(text, parsed.error().why + "; " + parsed.error().hint);
      return false;
    }
    unit = *parsed;
    text = trim(text.substr(close + 1));
    return true;
  }

  // Takes the '=' of "NAME [unit] = ...".
  bool takes_equals(Head& head) {
    if (!head.rest.starts_with('=')) {
      complain(head.rest, fmt::format("'=' was expected after '{}'", head.name));
      return false;
    }
    head.rest = trim(head.rest.substr(1));
    return true;
  }

  void constant(std::string_view text) {
    Head parsed = head(text);
    if (!parsed.good || !takes_equals(parsed)) return;
    const auto open = std::min(parsed.rest.find('['), parsed.rest.size());
    const std::string_view digits = trim(parsed.rest.substr(0, open));
    std::string_view tail = parsed.rest.substr(open);
    Literal literal;
    literal.unit = parsed.unit;
    if (!bracket(tail, literal.unit)) return;
    if (!tail.empty()) {
      complain(tail, "'const NAME = NUMBER [unit]' was expected");
      return;
    }
    const auto number = parse_number(digits);
    if (!number) {
      complain(parsed.rest, fmt::format("'{}' is not a number", digits));
      return;
    }
    literal.value = *number;
    file_.define(Constant{parsed.name, in_base_units(literal), literal.unit,
                          to_string(Place{file_.name, line_, 0})},
                 line_);
  }

  void event(std::string_view text) {
    const Head parsed = head(text);
    if (!parsed.good) return;
    if (!parsed.unit || !parsed.rest.empty()) {
      complain(text, "'event NAME [unit]' was expected");
      return;
    }
    file_.event_units.push_back({parsed.name, *parsed.unit});
  }

  void definition(DefinitionKind kind, std::string_view text) {
    skipping_ = true;  // details of a metric that could not be read say nothing new
    Head parsed = head(text);
    if (!parsed.good || !takes_equals(parsed)) return;
    auto formula = parse_infix(parsed.rest);
    if (!formula) {
      file_.complain(line_, static_cast<std::size_t>(parsed.rest.data() - raw_.data()),
                     formula.error());
      return;
    }
    skipping_ = false;
    current_.emplace();
    current_->kind = kind;
    current_->name = std::move(parsed.name);
    current_->formula = *std::move(formula);
    current_->unit = parsed.unit;
    current_->checks_units = true;
    current_->group = group_;
    current_->variant = variant_;
    current_->place = {file_.name, line_, static_cast<unsigned>(text.data() - raw_.data()) + 1};
  }

  void detail(std::string_view text) {
    if (skipping_) return;
    if (!current_) {
      complain(text, "an indented line belongs to a metric, and none stands above it");
    } else if (text[0] == '"') {
      if (!current_->description.empty()) current_->description += ' ';
      current_->description += without_quotes(text);
    } else if (text.starts_with("expect ")) {
      expectation(trim(text.substr(7)));
    } else if (text.starts_with("error ")) {
      model_error(trim(text.substr(6)));
    } else {
      complain(text, "a description in quotes, 'expect' or 'error' was expected");
    }
  }

  void model_error(std::string_view text) {
    const auto number = parse_number(text);
    if (!number) {
      complain(text, fmt::format("'{}' is not a number", text));
      return;
    }
    current_->error = number->as_double() * (current_->unit ? current_->unit->factor : 1);
  }

  void expectation(std::string_view text) {
    const auto arrow = text.rfind("->");
    if (arrow == std::string_view::npos) {
      complain(text, "'expect NAME = COUNT, ... -> VALUE' was expected");
      return;
    }
    Expectation expectation;
    expectation.place = {file_.name, line_, static_cast<unsigned>(text.data() - raw_.data()) + 1};
    const std::string_view inputs = trim(text.substr(0, arrow));
    for (const std::string_view piece : split(inputs, ',')) {
      if (inputs.empty()) break;
      const auto equals = piece.rfind('=');
      const auto number = equals == std::string_view::npos
                              ? std::nullopt
                              : parse_number(trim(piece.substr(equals + 1)));
      if (!number) {
        complain(piece, "'NAME = COUNT' was expected");
        return;
      }
      expectation.counts.emplace_back(without_quotes(trim(piece.substr(0, equals))), *number);
    }
    const std::string_view result = trim(text.substr(arrow + 2));
    if (result != "n/a") {
      const auto number = parse_number(result);
      if (!number) {
        complain(result, "a number or n/a was expected after '->'");
        return;
      }
      expectation.value = number->as_double();
    }
    current_->expectations.push_back(std::move(expectation));
  }

  MetricFile file_;
  std::string_view raw_;
  unsigned line_ = 0;
  std::optional<Definition> current_;
  bool skipping_ = false;
  std::string variant_;
  std::string group_;
};

}  // namespace

MetricFile read_loft(const std::string& file_name, std::string_view text) {
  return LoftReader(file_name).read(text);
}

}  // namespace loft::metric
