#include "loft/perf_data.hpp"

#include "format/perf/sample.hpp"
#include "source/file/ordered.hpp"
#include "source/file/recording.hpp"

namespace loft::perf_data {

namespace perf = format::perf;

struct Reader::Implementation {
  std::unique_ptr<source::Recording> recording;

  [[nodiscard]] ByteOrder order() const {
    return recording->metadata().is_big_endian ? ByteOrder::big : ByteOrder::little;
  }
  [[nodiscard]] perf::RawRecord raw(const Record& record) const {
    perf::RawRecord out;
    out.type = record.type();
    out.misc = record.misc();
    out.order = order();
    out.body = record.body();
    return out;
  }
};

struct Reader::Iterator::State {
  State(const Reader& its_reader, const source::Recording& recording)
      : reader(its_reader), records(recording) {}
  const Reader& reader;
  source::OrderedRecords records;
  Record current;
};

Reader::Reader(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}

Reader::~Reader() = default;

std::unique_ptr<Reader> Reader::open(const std::string& path, std::string& why) {
  auto recording = source::Recording::open(path);
  if (!recording) {
    why = to_string(recording.error());
    return nullptr;
  }
  auto implementation = std::make_unique<Implementation>();
  implementation->recording = *std::move(recording);
  return std::unique_ptr<Reader>(new Reader(std::move(implementation)));
}

const Metadata& Reader::metadata() const { return implementation_->recording->metadata(); }

const std::map<std::string, std::uint64_t>& Reader::records_by_type() const {
  return implementation_->recording->summary().records;
}

std::uint64_t Reader::lost() const { return implementation_->recording->summary().lost; }

const std::vector<std::string>& Reader::problems() const {
  return implementation_->recording->summary().notes;
}

Reader::Iterator Reader::begin() const {
  Iterator iterator;
  iterator.state_ = std::make_shared<Iterator::State>(*this, *implementation_->recording);
  ++iterator;
  return iterator;
}

const Record& Reader::Iterator::operator*() const { return state_->current; }

Reader::Iterator& Reader::Iterator::operator++() {
  source::PlacedRecord placed;
  if (!state_->records.next(placed)) {
    state_.reset();
    return *this;
  }
  Record& record = state_->current;
  record.reader_ = &state_->reader;
  record.type_ = placed.record.type;
  record.misc_ = placed.record.misc;
  record.number_ = placed.number;
  record.time_ = placed.time;
  record.body_ = placed.record.body;
  return *this;
}

void Reader::run(const Callbacks& calls) const {
  const auto give = [](const Record& record, const auto& value, const auto& call) {
    if (!call || !value) return false;
    call(record, *value);
    return true;
  };
  for (const Record& record : *this) {
    bool taken = false;
    switch (record.type()) {
      case RecordType::sample:
        taken = calls.on_sample && give(record, record.as<Sample>(), calls.on_sample);
        break;
      case RecordType::mmap:
      case RecordType::mmap2:
        taken = give(record, record.as<Mmap>(), calls.on_mmap);
        break;
      case RecordType::comm:
        taken = give(record, record.as<Comm>(), calls.on_comm);
        break;
      case RecordType::fork:
        taken = give(record, record.as<Task>(), calls.on_fork);
        break;
      case RecordType::exit:
        taken = give(record, record.as<Task>(), calls.on_exit);
        break;
      case RecordType::lost:
        taken = give(record, record.as<Lost>(), calls.on_lost);
        break;
      case RecordType::switch_:
      case RecordType::switch_cpu_wide:
        taken = give(record, record.as<Switch>(), calls.on_switch);
        break;
      default:
        break;
    }
    if (!taken && calls.on_record) calls.on_record(record);
  }
}

RecordId Record::id() const {
  if (type_ == RecordType::sample) {
    const auto sample = as<Sample>();
    return sample ? sample->who : RecordId{};
  }
  const auto& events = reader_->implementation_->recording->events();
  const auto raw = reader_->implementation_->raw(*this);
  const auto event = events.event_of_record(raw);
  return event ? events.layout(*event).read_tail(raw) : RecordId{};
}

template <>
std::optional<Sample> Record::as<Sample>() const {
  if (type_ != RecordType::sample) return std::nullopt;
  const auto& events = reader_->implementation_->recording->events();
  const auto raw = reader_->implementation_->raw(*this);
  const auto event = events.event_of_sample(raw);
  if (!event) return std::nullopt;
  auto sample = perf::read_sample(raw, events.layout(*event));
  if (sample) sample->event = *event;
  return sample;
}

template <>
std::optional<Read> Record::as<Read>() const {
  if (type_ != RecordType::read) return std::nullopt;
  const auto& events = reader_->implementation_->recording->events();
  const auto raw = reader_->implementation_->raw(*this);
  const auto event = events.event_of_record(raw);
  if (!event) return std::nullopt;
  return perf::read_read(raw, events.layout(*event).attr());
}

#define LOFT_RECORD_AS(T, condition, read)                   \
  template <>                                                \
  std::optional<T> Record::as<T>() const {                   \
    if (!(condition)) return std::nullopt;                   \
    return perf::read(reader_->implementation_->raw(*this)); \
  }

LOFT_RECORD_AS(Mmap, type_ == RecordType::mmap || type_ == RecordType::mmap2, read_mmap)
LOFT_RECORD_AS(Comm, type_ == RecordType::comm, read_comm)
LOFT_RECORD_AS(Task, type_ == RecordType::fork || type_ == RecordType::exit, read_task)
LOFT_RECORD_AS(Lost, type_ == RecordType::lost, read_lost)
LOFT_RECORD_AS(LostSamples, type_ == RecordType::lost_samples, read_lost_samples)
LOFT_RECORD_AS(Throttle, type_ == RecordType::throttle || type_ == RecordType::unthrottle,
               read_throttle)
LOFT_RECORD_AS(Switch, type_ == RecordType::switch_ || type_ == RecordType::switch_cpu_wide,
               read_switch)
LOFT_RECORD_AS(Namespaces, type_ == RecordType::namespaces, read_namespaces)
LOFT_RECORD_AS(Ksymbol, type_ == RecordType::ksymbol, read_ksymbol)
LOFT_RECORD_AS(BpfEvent, type_ == RecordType::bpf_event, read_bpf_event)
LOFT_RECORD_AS(Cgroup, type_ == RecordType::cgroup, read_cgroup)
LOFT_RECORD_AS(TextPoke, type_ == RecordType::text_poke, read_text_poke)
LOFT_RECORD_AS(Aux, type_ == RecordType::aux, read_aux)
LOFT_RECORD_AS(ItraceStart, type_ == RecordType::itrace_start, read_itrace_start)
LOFT_RECORD_AS(IdIndex, type_ == RecordType::id_index, read_id_index)
LOFT_RECORD_AS(ThreadMap, type_ == RecordType::thread_map, read_thread_map)
LOFT_RECORD_AS(TimeConversion, type_ == RecordType::time_conv, read_time_conversion)
LOFT_RECORD_AS(StatValue, type_ == RecordType::stat, read_stat)
LOFT_RECORD_AS(StatRound, type_ == RecordType::stat_round, read_stat_round)
LOFT_RECORD_AS(BuildId, type_ == RecordType::header_build_id, read_build_id)
LOFT_RECORD_AS(EventUpdate, type_ == RecordType::event_update, read_event_update)

#undef LOFT_RECORD_AS

}  // namespace loft::perf_data
