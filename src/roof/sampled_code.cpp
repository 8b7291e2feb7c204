#include "roof/sampled_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <thread>

#include "base/text.hpp"
#include "event/recording_schema.hpp"
#include "roof/source_files.hpp"
#include "sample/address_profile.hpp"
#include "source/file/loft_facts.hpp"
#include "source/file/profile_recording.hpp"
#include "source/virtual/file_code.hpp"

namespace loft::roof {
namespace {

// More events than this are not shown: each takes a column.
constexpr std::size_t kMostEvents = 8;

struct SampledEvent {
  std::string name;
  double all = 0;  // of whatever samples met
  std::vector<sample::MetAddress> met;
  AddressTimes times = {};

  [[nodiscard]] std::uint64_t samples() const {
    std::uint64_t sum = 0;
    for (const sample::MetAddress& each : met) sum += each.weight.samples;
    return sum;
  }
};

// Code of a function in its binary.
struct Extent {
  std::uint32_t binary = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;

  auto operator<=>(const Extent&) const = default;
};

// Debug information of the binaries that were recorded, where they are the same by now.
class RecordedSources : public Sources {
 public:
  RecordedSources(sample::Locations& locations, const sample::TaskHistory& history)
      : locations_(locations) {
    for (std::uint32_t i = 0; i < history.binaries().size(); ++i)
      binaries_.try_emplace(history.binaries()[i].path, i);
  }

  model::SourcePlace at(const std::string& binary, std::uint64_t address) override {
    model::SourcePlace place;
    const auto found = binaries_.find(binary);
    if (found == binaries_.end()) return place;
    const symbols::SymbolTable& table = locations_.table_of(found->second);
    if (const auto line = table.line(address)) {
      place.file = line->file;
      place.line = line->line;
      if (line->line > 0) place.text = files_.line(place.file, line->line);
    }
    for (const symbols::InlinedFrame& frame : table.inlined(address))
      place.inlined.emplace_back(frame.function);
    return place;
  }

 private:
  sample::Locations& locations_;
  std::map<std::string, std::uint32_t> binaries_;
  SourceFiles files_;
};

class SampledCode {
 public:
  SampledCode(const source::Recording& recording, const AnnotateWanted& wanted)
      : recording_(recording), wanted_(wanted) {}

  Result<model::Annotation> annotate() {
    LOFT_TRY(profile_, source::profile_recording(recording_, {}, {}, workers()));
    read_events();
    if (events_.empty())
      return failure(ErrorKind::unsupported, "annotate '" + recording_.summary().path + "'",
                     "no sample in it says where in a program it was taken",
                     "sample the program: loft record -F 1000 -- CMD, or perf record -- CMD");
    read_code();
    model::Annotation annotation;
    annotation.command = recording_.metadata().command_line;
    annotation.counts_from = "none";
    for (const SampledEvent& event : events_) annotation.events.push_back(event.name);
    RecordedSources sources(*profile_.locations, recording_.history());
    annotation.functions = roof::annotate(code_, events_.front().times, points_, wanted_, sources);
    if (annotation.functions.empty())
      return failure(ErrorKind::not_found, "annotate '" + recording_.summary().path + "'",
                     "no function that samples met has '" + loft::join(wanted_.names, "' or '") +
                         "' in its name",
                     "loft report " + recording_.summary().path + " lists functions");
    for (model::AnnotatedFunction& function : annotation.functions) add_others(function);
    annotation.notes = std::move(notes_);
    return annotation;
  }

 private:
  static unsigned workers() { return std::thread::hardware_concurrency(); }

  [[nodiscard]] FunctionKey key_of(std::uint32_t id) const {
    const sample::Function& function = profile_.locations->function(id);
    const bool has_binary = function.binary != sample::Function::kNoBinary;
    return {function.name, has_binary ? recording_.history().binaries()[function.binary].path : ""};
  }

  // Those whose samples met code of programs.
  void read_events() {
    const auto& names = recording_.metadata().events;
    std::vector<double> all(names.size());
    for (const sample::Trie::Node& node : profile_.result.rows.nodes()) {
      const std::size_t event = profile_.result.rows[node.parent].key;
      if (node.parent != sample::Trie::kRoot && event < all.size())
        all[event] += static_cast<double>(node.self.period);
    }
    for (std::uint32_t i = 0; i < names.size(); ++i) {
      if (!(all[i] > 0) || !event::recording::has_address(names[i].name)) continue;
      sample::AddressProfile addresses(recording_.history(), *profile_.locations, i);
      recording_.for_each_sample(workers(),
                                 [&](unsigned number) { return addresses.worker(number); });
      SampledEvent event{names[i].name, all[i], addresses.finish()};
      if (!event.met.empty()) events_.push_back(std::move(event));
    }
    choose_events();
    for (SampledEvent& event : events_)
      for (const sample::MetAddress& each : event.met)
        event.times[key_of(each.function)][each.address] += each.weight;
    if (events_.empty()) return;
    for (const sample::MetAddress& each : events_.front().met)
      extents_[key_of(each.function)].insert(extent_of(each));
  }

  // The one with most samples first. Slices of loft's recordings have the address at which they
  // ended: what was sampled says more.
  void choose_events() {
    const auto is_slice = [](const SampledEvent& event) {
      return event.name == event::recording::kRunTime ||
             event.name == event::recording::kRunTimeInUserMode;
    };
    if (!source::recorder_of(recording_.metadata()).empty()) {
      if (std::ranges::all_of(events_, is_slice) && !events_.empty())
        notes_.emplace_back(
            "only slices were recorded, with the address at which each ended: loft record -F 1000 "
            "samples instructions");
      else
        std::erase_if(events_, is_slice);
    }
    std::ranges::stable_sort(events_, std::ranges::greater(), &SampledEvent::samples);
    if (events_.size() <= kMostEvents) return;
    events_.resize(kMostEvents);
    notes_.push_back(
        fmt::format("of its events only the {} with most samples are shown", kMostEvents));
  }

  // Of code that no table knows, what follows the addresses that samples met.
  [[nodiscard]] Extent extent_of(const sample::MetAddress& met) const {
    const sample::Function& function = profile_.locations->function(met.function);
    const Extent extent{function.binary, met.address, met.address + kBytesBehind};
    if (function.binary == sample::Function::kNoBinary) return extent;
    const symbols::Symbol* symbol = profile_.locations->table_of(function.binary).find(met.address);
    if (symbol != nullptr && symbol->size > met.address - symbol->start)
      return {function.binary, symbol->start, symbol->start + symbol->size};
    return extent;
  }

  [[nodiscard]] double share_of(const SampledEvent& event, const FunctionKey& key) const {
    double period = 0;
    if (const auto met = event.times.find(key); met != event.times.end())
      for (const auto& [address, weight] : met->second)
        period += static_cast<double>(weight.period);
    return period / event.all;
  }

  // The functions that may be shown: by name, or those with most samples.
  void read_code() {
    for (const auto& [key, extents] : extents_) {
      model::RoofPoint& point = points_.emplace_back();
      point.subject.scope = model::Scope::function;
      point.subject.name = key.name;
      point.subject.binary = key.binary;
      point.subject.share_of_time = share_of(events_.front(), key);
    }
    std::ranges::stable_sort(points_, std::ranges::greater(), [](const model::RoofPoint& point) {
      return point.subject.share_of_time;
    });
    std::size_t read = 0;
    for (const model::RoofPoint& point : points_) {
      const FunctionKey key{point.subject.name, point.subject.binary};
      const bool is_asked_for =
          wanted_.names.empty() ? read < wanted_.top : has_part(key.name, wanted_.names);
      if (!is_asked_for || read >= kMostRead) continue;
      read_function(key, extents_.at(key));
      ++read;
    }
  }

  void read_function(const FunctionKey& key, const std::set<Extent>& extents) {
    FunctionCode& code = code_[key];
    std::string why;
    for (const Extent& extent : joined(extents)) {
      const auto listed = list(extent);
      if (!listed) why = listed.error().why;
      if (listed)
        for (const auto& each : *listed)
          code.code[each.address] = {each.text, each.length, {}, {}, {}, each.target};
    }
    // What was met is shown in any case.
    for (const auto& [address, weight] : events_.front().times.at(key)) {
      const auto behind = code.code.upper_bound(address);
      const auto before = behind == code.code.begin() ? code.code.end() : std::prev(behind);
      const bool is_listed =
          before != code.code.end() && address - before->first < before->second.length;
      if (!is_listed) code.code[address].length = 1;
    }
    code.address = code.code.begin()->first;
    if (!why.empty())
      notes_.push_back(
          fmt::format("'{}' has no code here, only addresses that samples met: {}", key.name, why));
  }

  // What overlaps is one: decoded from two places it would be listed twice.
  [[nodiscard]] static std::vector<Extent> joined(const std::set<Extent>& extents) {
    std::vector<Extent> parts;
    for (const Extent& extent : extents) {
      Extent* last = parts.empty() ? nullptr : &parts.back();
      if (last != nullptr && last->binary == extent.binary && extent.start < last->end)
        last->end = std::max(last->end, extent.end);
      else
        parts.push_back(extent);
    }
    return parts;
  }

  [[nodiscard]] Result<std::vector<source::virtual_pmu::FileInstruction>> list(
      const Extent& extent) const {
    if (extent.binary == sample::Function::kNoBinary)
      return failure(ErrorKind::not_found, "list code", "no binary is mapped there");
    const sample::MappedBinary& binary = recording_.history().binaries()[extent.binary];
    return source::virtual_pmu::code_in_file(binary.path, binary.build_id, extent.start,
                                             extent.end);
  }

  void add_others(model::AnnotatedFunction& function) const {
    const FunctionKey key{function.name, function.binary};
    for (std::size_t i = 1; i < events_.size(); ++i) {
      const auto met = events_[i].times.find(key);
      static const std::map<std::uint64_t, sample::Weight> kNone;
      const auto& addresses = met == events_[i].times.end() ? kNone : met->second;
      sample::Weight all;
      for (const auto& [address, weight] : addresses) all += weight;
      function.others.push_back({all.samples, share_of(events_[i], key)});
      for (std::size_t k = 0; k < function.code.size(); ++k) {
        const std::uint64_t start = function.code[k].address;
        const std::uint64_t end =
            k + 1 < function.code.size() ? function.code[k + 1].address : start + 1;
        const sample::Weight own = weight_in(addresses, {{start, end}});
        function.code[k].others.push_back(
            {own.samples, all.period > 0
                              ? static_cast<double>(own.period) / static_cast<double>(all.period)
                              : 0});
      }
    }
  }

  static constexpr std::size_t kMostRead = 1000;
  static constexpr std::uint64_t kBytesBehind = 64;

  const source::Recording& recording_;
  const AnnotateWanted& wanted_;
  source::ProfiledRecording profile_;
  std::vector<SampledEvent> events_;
  std::map<FunctionKey, std::set<Extent>> extents_;  // of what samples of the first event met
  CodeByFunction code_;
  std::vector<model::RoofPoint> points_;
  std::vector<std::string> notes_;
};

}  // namespace

Result<model::Annotation> annotate_samples(const source::Recording& recording,
                                           const AnnotateWanted& wanted) {
  if (source::recorder_of(recording.metadata()) == "virtual")
    return failure(ErrorKind::unsupported, "annotate '" + recording.summary().path + "'",
                   "the virtual PMU recorded it by function, not by instruction",
                   "count and sample instructions with: loft annotate -- CMD");
  return SampledCode(recording, wanted).annotate();
}

}  // namespace loft::roof
