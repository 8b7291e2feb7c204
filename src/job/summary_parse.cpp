#include <algorithm>
#include <charconv>
#include <limits>

#include "base/text.hpp"
#include "job/summary.hpp"

namespace loft::job {
namespace {

constexpr std::size_t kMostColumns = 256;

Failure damaged(std::string_view line) {
  constexpr std::size_t kShown = 60;
  return failure(ErrorKind::malformed, "read the summary of a rank",
                 "it is damaged at '" + std::string(line.substr(0, kShown)) + "'");
}

std::optional<unsigned char> hex_digit(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<unsigned char>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<unsigned char>(letter - 'a' + 10);
  return std::nullopt;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const auto high = hex_digit(text[i + 1]);
    const auto low = hex_digit(text[i + 2]);
    if (!high || !low) return std::nullopt;
    out += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  return out;
}

// Decimal alone, and all of the text.
template <class Number>
bool parse_number(std::string_view text, Number& value) {
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, value);
  return result.ec == std::errc() && result.ptr == end;
}

// The fields of a line one after the other.
class Fields {
 public:
  explicit Fields(std::string_view line) : rest_(line) {}

  std::string_view next() {
    const std::size_t tab = rest_.find('\t');
    const std::string_view field = rest_.substr(0, tab);
    is_over_ = tab == std::string_view::npos;
    rest_.remove_prefix(is_over_ ? rest_.size() : tab + 1);
    return field;
  }
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  std::string_view rest_;
  bool is_over_ = false;
};

class Parser {
 public:
  Result<RankSummary> parse(std::string_view text) {
    if (!text.starts_with("loft.rank/1\n")) return damaged(text.substr(0, text.find('\n')));
    text.remove_prefix(text.find('\n') + 1);
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line == "end" && end != std::string_view::npos) return check();
      if (end == std::string_view::npos || !take(line)) return damaged(line);
    }
    return damaged("its end, which is missing");
  }

 private:
  Result<RankSummary> check() {
    const Rank& rank = summary_.rank;
    if (!has_rank_ || rank.number >= rank.size || rank.size > kMostRanks) return damaged("rank");
    return std::move(summary_);
  }

  bool take(std::string_view line) {
    if (line == "binaries") {
      binaries_.clear();
      return true;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view key = line.substr(0, equals);
    const std::string_view value = line.substr(equals + 1);
    if (key == "function") return take_function(value);
    if (key == "binary") return take_binary(value);
    if (key == "column") return take_column(value);
    return take_number(key, value) || take_text(key, value);
  }

  bool take_number(std::string_view key, std::string_view value) {
    if (key == "rank") return has_rank_ = parse_number(value, summary_.rank.number);
    if (key == "size") return parse_number(value, summary_.rank.size);
    if (key == "local") return parse_number(value, summary_.rank.local.emplace());
    if (key == "exit") return parse_number(value, summary_.exit_status);
    if (key == "start") return parse_number(value, summary_.start_ns);
    if (key == "wall") return parse_number(value, summary_.wall_ns);
    if (key == "cpu") return parse_number(value, summary_.cpu_ns.emplace());
    if (key == "sample") return parse_number(value, summary_.sample_ns.emplace());
    if (key == "mpi") return parse_number(value, mpi().ns);
    if (key == "mpi_span") return parse_number(value, mpi().span_ns);
    if (key == "mpi_calls") return parse_number(value, mpi().calls);
    return false;
  }

  // Keys that are not known yet are of a newer loft, and left out.
  bool take_text(std::string_view key, std::string_view value) {
    auto text = unescaped(value);
    if (!text) return false;
    if (key == "state") {
      summary_.state = *text == "ended" ? State::ended : State::running;
      return *text == "ended" || *text == "running";
    }
    if (key == "node")
      summary_.rank.node = *std::move(text);
    else if (key == "job")
      summary_.rank.job = *std::move(text);
    else if (key == "launch")
      summary_.rank.launch = *std::move(text);
    else if (key == "launcher")
      summary_.rank.launcher = *std::move(text);
    else if (key == "command")
      summary_.command = *std::move(text);
    else if (key == "source")
      summary_.source = *std::move(text);
    else if (key == "pass")
      summary_.pass = *std::move(text);
    else if (key == "note")
      summary_.notes.push_back(*std::move(text));
    return true;
  }

  bool take_column(std::string_view value) {
    Fields fields(value);
    auto name = unescaped(fields.next());
    auto unit = unescaped(fields.next());
    const std::string_view origin = fields.next();
    const std::string_view total = fields.next();
    if (!name || !unit || !fields.is_over() || summary_.columns.size() == kMostColumns ||
        !summary_.functions.empty())
      return false;
    Column column{*std::move(name), *std::move(unit), sample::Origin::missing};
    for (const auto each : {sample::Origin::counted, sample::Origin::scaled,
                            sample::Origin::modelled, sample::Origin::missing})
      if (origin == to_string(each)) column.origin = each;
    std::optional<std::uint64_t> number;
    if (total != "-" && !parse_number(total, number.emplace())) return false;
    summary_.columns.push_back(std::move(column));
    summary_.totals.push_back(number);
    return true;
  }

  bool take_binary(std::string_view value) {
    auto text = unescaped(value);
    if (text) binaries_.push_back(*std::move(text));
    return text.has_value();
  }

  bool take_function(std::string_view value) {
    Fields fields(value);
    auto name = unescaped(fields.next());
    std::size_t binary = 0;
    if (!name || !parse_number(fields.next(), binary) || binary >= binaries_.size()) return false;
    const std::string_view in_mpi = fields.next();
    FunctionRow row{*std::move(name), binaries_[binary], in_mpi == "1", {}};
    row.values.reserve(summary_.columns.size());
    for (std::size_t i = 0; i < summary_.columns.size(); ++i)
      if (fields.is_over() || !parse_number(fields.next(), row.values.emplace_back())) return false;
    if (!fields.is_over()) return false;
    summary_.functions.push_back(std::move(row));
    return true;
  }

  MpiTime& mpi() {
    if (!summary_.mpi) summary_.mpi.emplace();
    return *summary_.mpi;
  }

  RankSummary summary_;
  std::vector<std::string> binaries_;
  bool has_rank_ = false;
};

}  // namespace

Result<RankSummary> parse_summary(std::string_view text) { return Parser().parse(text); }

}  // namespace loft::job
