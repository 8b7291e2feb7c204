#include "symbols/symbol_array.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace loft::symbols {
namespace {

std::size_t leading_underscores(std::string_view name) {
  return std::min(name.find_first_not_of('_'), name.size());
}

// Sorts the name to show first among those of one address.
bool is_better(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& c) {
    const bool is_old_version = c.name.find('@') != std::string_view::npos;  // "f@GLIBC_2.2.5"
    return std::tuple(c.size == 0, !c.is_function, is_old_version, c.binding,
                      leading_underscores(c.name), -static_cast<std::int64_t>(c.name.size()),
                      c.name);
  };
  return key(a) < key(b);
}

std::uint64_t end_of(const Candidate& candidate) {
  const std::uint64_t end = candidate.start + candidate.size;
  return end < candidate.start ? std::numeric_limits<std::uint64_t>::max() : end;
}

}  // namespace

SymbolArray::~SymbolArray() = default;

const Symbol* SymbolArray::find(std::uint64_t address) const {
  const auto above = std::upper_bound(
      entries_.begin(), entries_.end(), address,
      [](std::uint64_t wanted, const Entry& entry) { return wanted < entry.start; });
  if (above == entries_.begin()) return nullptr;
  auto index = static_cast<std::uint32_t>(above - entries_.begin() - 1);
  while (address >= entries_[index].end) {
    index = entries_[index].around;
    if (index == kNone) return nullptr;
  }
  const Symbol* ready = ready_[index].load(std::memory_order_acquire);
  return ready != nullptr ? ready : materialize(index);
}

const Symbol* SymbolArray::materialize(std::uint32_t index) const {
  const Entry& entry = entries_[index];
  std::string_view name(entry.name, entry.length);
  std::string readable = demangle(name, style_);
  const std::lock_guard lock(mutex_);
  if (const Symbol* ready = ready_[index].load(std::memory_order_relaxed)) return ready;
  if (!readable.empty()) name = demangled_.emplace_back(std::move(readable));
  const Symbol* symbol = &symbols_.emplace_back(Symbol{name, entry.start, entry.end - entry.start});
  ready_[index].store(symbol, std::memory_order_release);
  return symbol;
}

// A name as it is shown ends in the same identifier that the file's name contains, so most need not
// be demangled.
std::vector<const Symbol*> SymbolArray::named(std::string_view name) const {
  std::string_view last = name.substr(0, name.find_first_of("(<[@. "));
  if (const auto colon = last.rfind(':'); colon != std::string_view::npos)
    last = last.substr(colon + 1);
  std::vector<const Symbol*> found;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const std::string_view raw(entries_[i].name, entries_[i].length);
    if (raw.find(last) == std::string_view::npos) continue;
    const Symbol* symbol = materialize(i);
    if (raw == name || symbol->name == name) found.push_back(symbol);
  }
  return found;
}

std::vector<const Symbol*> SymbolArray::functions() const {
  std::vector<const Symbol*> found;
  for (std::uint32_t i = 0; i < entries_.size(); ++i) {
    const std::string_view raw(entries_[i].name, entries_[i].length);
    const bool is_cold_part = raw.ends_with(".cold") || raw.find(".cold.") != raw.npos;
    if (!is_cold_part && !raw.ends_with("@plt")) found.push_back(materialize(i));
  }
  return found;
}

void SymbolArray::Builder::move_by(std::uint64_t distance) {
  for (Candidate& candidate : candidates_) {
    candidate.start += distance;
    if (candidate.limit != std::numeric_limits<std::uint64_t>::max()) candidate.limit += distance;
  }
}

void SymbolArray::Builder::drop_aliases() {
  // Most tables are sorted by address already, or nearly; names are compared only where they share
  // one.
  const auto by_start = [](const Candidate& a, const Candidate& b) { return a.start < b.start; };
  if (!std::is_sorted(candidates_.begin(), candidates_.end(), by_start))
    std::sort(candidates_.begin(), candidates_.end(), by_start);
  auto kept = candidates_.begin();
  for (auto first = candidates_.begin(); first != candidates_.end();) {
    auto best = first;
    auto next = first + 1;
    for (; next != candidates_.end() && next->start == first->start; ++next)
      if (is_better(*next, *best)) best = next;
    *kept++ = *best;
    first = next;
  }
  candidates_.erase(kept, candidates_.end());
}

// Hand-written assembly is full of labels without a size; they are no functions of their own.
void SymbolArray::Builder::drop_labels_inside_functions() {
  std::uint64_t function_end = 0;
  std::erase_if(candidates_, [&](const Candidate& candidate) {
    if (candidate.size == 0 && candidate.start < function_end) return true;
    if (candidate.is_function && candidate.size != 0)
      function_end = std::max(function_end, end_of(candidate));
    return false;
  });
}

std::unique_ptr<SymbolArray> SymbolArray::Builder::finish(NameStyle style) {
  drop_aliases();
  drop_labels_inside_functions();
  std::unique_ptr<SymbolArray> array(new SymbolArray(style));
  array->entries_.reserve(candidates_.size());
  std::vector<std::uint32_t> open;  // entries around the current address, outermost first
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const Candidate& candidate = candidates_[i];
    const std::uint64_t next =
        i + 1 < candidates_.size() ? candidates_[i + 1].start : candidate.limit;
    const std::uint64_t end =
        candidate.size != 0 ? end_of(candidate) : std::min(next, candidate.limit);
    while (!open.empty() && array->entries_[open.back()].end <= candidate.start) open.pop_back();
    const std::uint32_t around = open.empty() ? kNone : open.back();
    open.push_back(static_cast<std::uint32_t>(array->entries_.size()));
    array->entries_.push_back({candidate.start, end, candidate.name.data(),
                               static_cast<std::uint32_t>(candidate.name.size()), around});
  }
  array->ready_ = std::vector<std::atomic<const Symbol*>>(array->entries_.size());
  array->owners_ = std::move(owners_);
  array->own_names_ = std::exchange(own_names_, std::make_shared<std::deque<std::string>>());
  candidates_ = {};
  owners_ = {};
  return array;
}

}  // namespace loft::symbols
