#include "core/geometry.hpp"

#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/text.hpp"

namespace loft::core {
namespace {

Failure wrong(std::string_view option, std::string_view piece, std::string why, std::string hint) {
  return failure(ErrorKind::invalid_input, fmt::format("read {} '{}'", option, printable(piece)),
                 std::move(why), std::move(hint));
}

// "32k", "8m", "65536".
std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) {
    const char last = text.back();
    unit = last == 'k' || last == 'K'   ? std::uint64_t{1} << 10
           : last == 'm' || last == 'M' ? std::uint64_t{1} << 20
           : last == 'g' || last == 'G' ? std::uint64_t{1} << 30
                                        : 1;
    if (unit != 1) text.remove_suffix(1);
  }
  const auto number = parse_u64(text);
  if (!number || *number > std::numeric_limits<std::uint64_t>::max() / unit) return {};
  return *number * unit;
}

std::optional<std::uint32_t> parse_u32(std::string_view text) {
  const auto number = parse_u64(text);
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return {};
  return static_cast<std::uint32_t>(*number);
}

template <class E, std::size_t N>
std::optional<E> named(std::string_view word, const E (&all)[N]) {
  for (const E value : all)
    if (word == to_string(value)) return value;
  return {};
}

constexpr Replacement kReplacements[] = {Replacement::lru, Replacement::tree_plru,
                                         Replacement::quasi_lru, Replacement::random};
constexpr Inclusion kInclusions[] = {Inclusion::inclusive, Inclusion::exclusive,
                                     Inclusion::non_inclusive};
constexpr Predictor kPredictors[] = {Predictor::bimodal, Predictor::gshare, Predictor::tage,
                                     Predictor::perceptron};

constexpr std::string_view kCacheHint =
    "write NAME=SIZE,WAYS[,LINE][,lru|plru|qlru|random][,inclusive|exclusive|noninclusive], "
    "as in L2=512k,8,64";

struct Assignment {
  std::string name;  // lower case
  std::string_view value;
};

// "NAME=VALUE"; nothing where there is no '='.
std::optional<Assignment> split_assignment(std::string_view piece) {
  const std::size_t equals = piece.find('=');
  if (equals == std::string_view::npos) return {};
  return Assignment{to_lower(trim(piece.substr(0, equals))), trim(piece.substr(equals + 1))};
}

Result<void> read_cache(std::string_view piece, std::string_view value, CacheGeometry& cache,
                        Inclusion* inclusion) {
  if (value == "none") {
    cache.bytes = 0;
    return {};
  }
  CacheGeometry read{.line = cache.line};
  const auto words = split(value, ',');
  std::size_t numbers = 0;
  for (const std::string_view word : words) {
    if (const auto policy = named(word, kReplacements)) {
      read.replacement = *policy;
    } else if (const auto rule = named(word, kInclusions); rule && inclusion != nullptr) {
      *inclusion = *rule;
    } else {
      auto number = parse_size(word);
      if (numbers > 0) number = parse_u32(word);
      if (!number || numbers == 3)
        return wrong("--cache", piece, fmt::format("'{}' is not expected there", printable(word)),
                     std::string(kCacheHint));
      if (numbers == 0) read.bytes = *number;
      if (numbers == 1) read.ways = static_cast<std::uint32_t>(*number);
      if (numbers == 2) read.line = static_cast<std::uint32_t>(*number);
      ++numbers;
    }
  }
  if (numbers < 2)
    return wrong("--cache", piece, "size and ways are missing", std::string(kCacheHint));
  cache = read;
  return {};
}

Result<void> read_prefetch(std::string_view piece, std::string_view value,
                           PrefetchGeometry& prefetch) {
  prefetch = {};
  if (value == "none") return {};
  for (const std::string_view word : split(value, '+')) {
    const auto lines = [&](std::string_view name) -> std::optional<std::uint8_t> {
      if (!word.starts_with(name)) return {};
      const auto number = parse_u32(word.substr(name.size()));
      if (!number || *number == 0 || *number > PrefetchGeometry::kMostLines) return {};
      return static_cast<std::uint8_t>(*number);
    };
    if (word == "next")
      prefetch.next_line = true;
    else if (const auto stream = lines("stream"))
      prefetch.stream_lines = *stream;
    else if (const auto stride = lines("stride"))
      prefetch.stride_steps = *stride;
    else
      return wrong("--cache", piece, fmt::format("'{}' is no prefetcher", printable(word)),
                   "none, or next, streamN and strideN (N: 1 to 32) with + between them");
  }
  return {};
}

Result<void> read_cache_piece(std::string_view piece, HierarchyGeometry& geometry) {
  const auto assignment = split_assignment(piece);
  if (!assignment) return wrong("--cache", piece, "there is no '='", std::string(kCacheHint));
  const auto& [name, value] = *assignment;
  if (name == "l1i") return read_cache(piece, value, geometry.l1i, nullptr);
  if (name == "l1d") return read_cache(piece, value, geometry.l1d, nullptr);
  if (name == "l2") return read_cache(piece, value, geometry.l2, &geometry.l2_inclusion);
  if (name == "l3") return read_cache(piece, value, geometry.l3, &geometry.l3_inclusion);
  if (name == "prefetch") return read_prefetch(piece, value, geometry.prefetch);
  return wrong("--cache", piece, "no such level", "L1I, L1D, L2, L3 or prefetch");
}

Result<void> read_tlb_piece(std::string_view piece, TlbGeometry& geometry) {
  constexpr const char* kHint =
      "write ITLB=, DTLB= or STLB=ENTRIES[,WAYS[,POLICY]], as in STLB=2048,16";
  const auto assignment = split_assignment(piece);
  if (!assignment) return wrong("--tlb", piece, "there is no '='", kHint);
  TlbLevel* level = assignment->name == "itlb"   ? &geometry.itlb
                    : assignment->name == "dtlb" ? &geometry.dtlb
                    : assignment->name == "stlb" ? &geometry.second
                                                 : nullptr;
  if (level == nullptr) return wrong("--tlb", piece, "no such buffer", kHint);
  if (level == &geometry.second && assignment->value == "none") {
    *level = {};
    return {};
  }
  const auto words = split(assignment->value, ',');
  const auto entries = parse_u32(words[0]);
  const auto ways = words.size() == 1 ? entries : parse_u32(words[1]);
  const auto policy = words.size() == 3 ? named(words[2], kReplacements) : Replacement::lru;
  if (!entries || !ways || words.size() > 3) return wrong("--tlb", piece, "not two numbers", kHint);
  if (!policy) return wrong("--tlb", piece, "no such policy", "lru, plru, qlru or random");
  if (*entries == 0) return wrong("--tlb", piece, "it has no entries", kHint);
  *level = {*entries, *ways, *policy};
  return {};
}

// The machine that the text begins with, and the rest of it.
struct Beginning {
  std::optional<MachineGeometry> machine;
  std::vector<std::string_view> pieces;
};

Result<Beginning> begin(std::string_view text) {
  Beginning out{.pieces = split(text, ':')};
  if (out.pieces[0].find('=') != std::string_view::npos) return out;
  LOFT_TRY(out.machine, find_machine(trim(out.pieces[0])));
  out.pieces.erase(out.pieces.begin());
  return out;
}

}  // namespace

Result<HierarchyGeometry> parse_caches(std::string_view text, const HierarchyGeometry& base) {
  LOFT_TRY(const auto beginning, begin(text));
  HierarchyGeometry geometry = beginning.machine ? beginning.machine->caches : base;
  for (const std::string_view piece : beginning.pieces)
    LOFT_CHECK(read_cache_piece(piece, geometry));
  LOFT_CHECK(check(geometry));
  return geometry;
}

Result<TlbGeometry> parse_tlb(std::string_view text, const TlbGeometry& base) {
  LOFT_TRY(const auto beginning, begin(text));
  TlbGeometry geometry = beginning.machine ? beginning.machine->tlb : base;
  for (const std::string_view piece : beginning.pieces) LOFT_CHECK(read_tlb_piece(piece, geometry));
  LOFT_CHECK(check(geometry));
  return geometry;
}

Result<BranchGeometry> parse_predictor(std::string_view text, const BranchGeometry& base) {
  constexpr const char* kHint = "tage, perceptron, gshare or bimodal, as in gshare,14";
  const auto words = split(text, ',');
  BranchGeometry geometry = base;
  const auto predictor = named(trim(words[0]), kPredictors);
  if (!predictor || words.size() > 2) return wrong("--predictor", text, "no such predictor", kHint);
  geometry.predictor = *predictor;
  if (words.size() == 2) {
    const auto bits = parse_u32(words[1]);
    if (!bits || *bits > 24) return wrong("--predictor", text, "no number of bits", kHint);
    geometry.table_bits = static_cast<std::uint8_t>(*bits);
  }
  LOFT_CHECK(check(geometry));
  return geometry;
}

std::string to_string(const HierarchyGeometry& geometry) {
  std::string text;
  const auto add = [&](std::string_view name, const CacheGeometry& cache,
                       std::optional<Inclusion> inclusion) {
    if (!text.empty()) text += ':';
    if (!cache.exists()) {
      text += fmt::format("{}=none", name);
      return;
    }
    const std::string size = cache.bytes % 1024 == 0 ? fmt::format("{}k", cache.bytes / 1024)
                                                     : fmt::format("{}", cache.bytes);
    text += fmt::format("{}={},{},{},{}", name, size, cache.ways, cache.line,
                        to_string(cache.replacement));
    if (inclusion) text += fmt::format(",{}", to_string(*inclusion));
  };
  add("L1I", geometry.l1i, {});
  add("L1D", geometry.l1d, {});
  add("L2", geometry.l2, geometry.l2_inclusion);
  add("L3", geometry.l3, geometry.l3_inclusion);
  std::vector<std::string> prefetchers;
  if (geometry.prefetch.next_line) prefetchers.emplace_back("next");
  if (geometry.prefetch.stream_lines > 0)
    prefetchers.push_back(fmt::format("stream{}", geometry.prefetch.stream_lines));
  if (geometry.prefetch.stride_steps > 0)
    prefetchers.push_back(fmt::format("stride{}", geometry.prefetch.stride_steps));
  return text + ":prefetch=" + (prefetchers.empty() ? "none" : join(prefetchers, "+"));
}

std::string to_string(const TlbGeometry& geometry) {
  const auto level = [](std::string_view name, const TlbLevel& tlb) {
    if (!tlb.exists()) return fmt::format("{}=none", name);
    const bool is_lru = tlb.replacement == Replacement::lru;
    return fmt::format("{}={},{}{}{}", name, tlb.entries, tlb.ways, is_lru ? "" : ",",
                       is_lru ? "" : to_string(tlb.replacement));
  };
  return level("ITLB", geometry.itlb) + ":" + level("DTLB", geometry.dtlb) + ":" +
         level("STLB", geometry.second);
}

std::string to_string(const BranchGeometry& geometry) {
  return fmt::format("{},{}", to_string(geometry.predictor), geometry.table_bits);
}

}  // namespace loft::core
