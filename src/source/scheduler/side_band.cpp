#include "source/scheduler/side_band.hpp"

#include <cstring>

#include "base/file.hpp"
#include "base/text.hpp"
#include "source/living_tasks.hpp"
#include "source/perf_events/attr.hpp"
#include "source/perf_events/open.hpp"
#include "source/perf_events/thread_rings.hpp"

namespace loft::source::scheduler {
namespace {

constexpr std::size_t kPidPlace = sizeof(perf_event_header);

event::Event nothing() {
  event::Event event;
  event.name = "names and mappings";
  event.encoding = {"software", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY};
  return event;
}

std::uint32_t pid_in(std::span<const std::byte> record) {
  std::uint32_t pid = 0;
  std::memcpy(&pid, record.data() + kPidPlace, sizeof pid);
  return pid;
}

}  // namespace

Result<SideBand> SideBand::of_machine(const CpuList& cpus, std::size_t pages) {
  SideBand side_band;
  const event::Event event = nothing();
  perf_event_attr attr = perf_events::make_attr(event, {.group_read = false, .disabled = false});
  attr.read_format = 0;
  attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = 1;
  attr.build_id = 1;
  attr.watermark = 1;
  attr.wakeup_watermark = static_cast<std::uint32_t>(pages * 4096 / 4);
  perf_events::set_record_tail(attr);
  for (const int cpu : cpus) {
    Result<Fd> fd = perf_events::open_event(attr, event, {-1, cpu});
    if (!fd && attr.build_id != 0) {
      attr.build_id = 0;  // before 5.12
      fd = perf_events::open_event(attr, event, {-1, cpu});
    }
    if (!fd) return Failure(fd.error());
    LOFT_TRY(auto ring, perf_events::RingBuffer::map_most(*fd, pages));
    LOFT_TRY(const auto id, perf_events::event_id(*fd));
    side_band.event_.ids.push_back(id);
    side_band.cpus_.push_back({*std::move(fd), std::move(ring)});
  }
  side_band.event_.name = "dummy";
  side_band.event_.attr = attr;
  return side_band;
}

void SideBand::collect() {
  for (PerCpu& cpu : cpus_)
    cpu.ring.drain([this](std::span<const std::byte> record) {
      collected_.insert(collected_.end(), record.begin(), record.end());
    });
}

std::vector<int> SideBand::wake_fds() const {
  std::vector<int> fds;
  for (const PerCpu& cpu : cpus_) fds.push_back(cpu.fd.get());
  return fds;
}

void SideBand::hand_over(TaskEvents& events, const std::function<bool(std::uint32_t)>& is_wanted) {
  const std::span<const std::byte> all = collected_;
  for (std::size_t at = 0; at < all.size();) {
    perf_event_header header;
    std::memcpy(&header, all.data() + at, sizeof header);
    const auto record = all.subspan(at, header.size);
    at += header.size;
    // Births and deaths come with names, wanted or not; the watcher tells them better.
    if (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT) continue;
    if (header.type == PERF_RECORD_LOST) has_lost_ = true;
    if (header.type == PERF_RECORD_LOST || is_wanted(pid_in(record))) events.take_raw(record);
  }
  collected_.clear();
}

bool describe_process(pid_t pid, std::uint64_t time, TaskEvents& events) {
  const auto number = static_cast<std::uint32_t>(pid);
  const auto threads = tasks_of(pid);
  for (const LivingTask& thread : threads)
    events.take(Name{{time, 0}, {number, static_cast<std::uint32_t>(thread.tid)}, thread.name});
  for (MappedCode& code : code_of(pid))
    events.take(CodeMapping{
        {time, 0}, {number, number}, code.start, code.size, code.offset, std::move(code.path)});
  return !threads.empty();
}

void describe_kernel(TaskEvents& events) {
  const auto symbols = read_file("/proc/kallsyms");
  if (!symbols) return;
  std::uint64_t text = 0;
  std::uint64_t end = 0;
  for (const std::string_view line : split(*symbols, '\n')) {
    const auto words = split(line, ' ');
    if (words.size() != 3) continue;
    if (words[2] == "_text") text = parse_hex(words[0]).value_or(0);
    if (words[2] == "_etext") end = parse_hex(words[0]).value_or(0);
  }
  if (text == 0 || end <= text) return;  // hidden from this user
  constexpr std::uint32_t kNobody = 0xFFFFFFFF;
  events.take(
      CodeMapping{{}, {kNobody, 0}, text, end - text, text, "[kernel.kallsyms]_text", true});
}

}  // namespace loft::source::scheduler
