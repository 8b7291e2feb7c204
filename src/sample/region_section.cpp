#include "sample/region_section.hpp"

#include "base/compact_bytes.hpp"

namespace loft::sample {
namespace {

constexpr std::uint64_t kRegionMagic = 0x3147455252;  // "RREG1"

void write_time(CompactWriter& out, const std::optional<Nanoseconds>& time) {
  out.number(time ? static_cast<std::uint64_t>(time->count()) + 1 : 0);
}

std::optional<Nanoseconds> read_time(CompactReader& in) {
  const std::uint64_t value = in.number();
  if (value == 0) return std::nullopt;
  return Nanoseconds(static_cast<Nanoseconds::rep>((value - 1) & ~(std::uint64_t{1} << 63)));
}

void write_counts(CompactWriter& out, const std::vector<Count>& counts) {
  for (const Count& count : counts) {
    out.number(count.is_available() ? 1 : 0);
    if (count.is_available())
      out.number(count.raw);
    else
      out.text(count.why);
  }
}

std::vector<Count> read_counts(CompactReader& in, std::size_t size) {
  std::vector<Count> counts;
  for (std::size_t i = 0; i < size && !in.has_failed(); ++i)
    counts.push_back(in.index(2) == 1 ? Count::exact(in.number()) : Count::missing(in.text()));
  counts.resize(size, Count::missing("damaged"));
  return counts;
}

RegionCounts read_region(CompactReader& in, const RunCounts& run) {
  constexpr std::uint32_t kNoThread = ~std::uint32_t{0};
  RegionCounts region;
  for (std::size_t names = in.count(); names > 0 && !in.has_failed(); --names)
    region.path.push_back(in.text());
  if (region.path.empty()) in.fail();
  const std::uint32_t thread = in.index_or(run.threads.size(), kNoThread);
  if (thread != kNoThread) region.thread = thread;
  region.visits = in.number();
  region.time = read_time(in);
  region.elapsed = read_time(in);
  region.counts = read_counts(in, run.events.size());
  region.self = read_counts(in, run.events.size());
  return region;
}

}  // namespace

std::vector<std::byte> region_section(const RunCounts& run) {
  CompactWriter out;
  out.number(kRegionMagic);
  out.number(run.events.size());
  for (const CountedEvent& event : run.events) {
    out.text(event.name);
    out.text(event.unit);
    out.real(event.scale);
    write_counts(out, {event.total});
  }
  out.number(run.threads.size());
  for (const ThreadCounts& thread : run.threads) {
    out.number(static_cast<std::uint32_t>(thread.pid));
    out.number(static_cast<std::uint32_t>(thread.tid));
    out.text(thread.comm);
  }
  out.number(run.regions.size());
  for (const RegionCounts& region : run.regions) {
    out.number(region.path.size());
    for (const std::string& name : region.path) out.text(name);
    out.number(region.thread ? *region.thread + 1 : 0);
    out.number(region.visits);
    write_time(out, region.time);
    write_time(out, region.elapsed);
    write_counts(out, region.counts);
    write_counts(out, region.self);
  }
  return out.take();
}

Result<RunCounts> read_region_section(std::span<const std::byte> bytes, const std::string& where) {
  CompactReader in(bytes);
  RunCounts run;
  run.source = Source::file;
  if (in.number() != kRegionMagic) in.fail();
  for (std::size_t left = in.count(); left > 0 && !in.has_failed(); --left) {
    CountedEvent& event = run.events.emplace_back();
    event.name = in.text();
    event.unit = in.text();
    event.scale = in.real();
    event.total = read_counts(in, 1).front();
  }
  for (std::size_t left = in.count(); left > 0 && !in.has_failed(); --left) {
    ThreadCounts& thread = run.threads.emplace_back();
    thread.pid = static_cast<pid_t>(in.number());
    thread.tid = static_cast<pid_t>(in.number());
    thread.comm = in.text();
  }
  for (std::size_t left = in.count(); left > 0 && !in.has_failed(); --left)
    run.regions.push_back(read_region(in, run));
  if (in.has_failed())
    return failure(ErrorKind::malformed, "read the regions of '" + where + "'",
                   "their section is damaged", "record the program again");
  return run;
}

}  // namespace loft::sample
