// Read a perf.data: what it says about itself, and its records one by one.
//
//   std::string why;
//   const auto reader = loft::perf_data::Reader::open("perf.data", why);
//   if (!reader) return fail(why);
//   for (const auto& record : *reader) {                        // in order of time
//     if (const auto sample = record.as<loft::perf_data::Sample>()) use(*sample);
//     else if (const auto map = record.as<loft::perf_data::Mmap>()) use(*map);
//   }
//
// or, in callback style,
//
//   loft::perf_data::Callbacks calls;
//   calls.on_sample = [&](const Record&, const Sample& sample) { ... };
//   reader->run(calls);
//
// A record is a view: it is parsed when you ask for it as something, and what it gives borrows from
// the reader. Records of kinds that have no type here yet still come, with their number and bytes.
// Nothing a file contains can make the reader crash or allocate more than the file justifies; what
// it had to skip is told by problems(). Records come in order of time in bounded memory.
#pragma once

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "loft/export.h"
#include "loft/perf_data/metadata.hpp"
#include "loft/perf_data/records.hpp"
#include "loft/perf_data/sample.hpp"

namespace loft::perf_data {

class Reader;

class LOFT_API Record {
 public:
  [[nodiscard]] RecordType type() const { return type_; }
  [[nodiscard]] std::uint16_t misc() const { return misc_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }  // its index in the recording
  [[nodiscard]] std::optional<std::uint64_t> time() const { return time_; }
  [[nodiscard]] std::span<const std::byte> body() const { return body_; }

  // Who, when and where, for records of the kernel that say so.
  [[nodiscard]] RecordId id() const;

  // The record as T (Sample, Mmap, Comm, Task, Lost, LostSamples, Throttle, Switch, Namespaces,
  // Ksymbol, BpfEvent, Cgroup, TextPoke, Aux, ItraceStart, Read, IdIndex, ThreadMap,
  // TimeConversion, StatValue, StatRound, BuildId, EventUpdate); nothing when it is of another
  // kind, or damaged.
  template <class T>
  [[nodiscard]] std::optional<T> as() const;

 private:
  friend class Reader;
  const Reader* reader_ = nullptr;
  RecordType type_{};
  std::uint16_t misc_ = 0;
  std::uint64_t number_ = 0;
  std::optional<std::uint64_t> time_;
  std::span<const std::byte> body_;
};

template <>
LOFT_API std::optional<Sample> Record::as<Sample>() const;
template <>
LOFT_API std::optional<Mmap> Record::as<Mmap>() const;
template <>
LOFT_API std::optional<Comm> Record::as<Comm>() const;
template <>
LOFT_API std::optional<Task> Record::as<Task>() const;
template <>
LOFT_API std::optional<Lost> Record::as<Lost>() const;
template <>
LOFT_API std::optional<LostSamples> Record::as<LostSamples>() const;
template <>
LOFT_API std::optional<Throttle> Record::as<Throttle>() const;
template <>
LOFT_API std::optional<Switch> Record::as<Switch>() const;
template <>
LOFT_API std::optional<Namespaces> Record::as<Namespaces>() const;
template <>
LOFT_API std::optional<Ksymbol> Record::as<Ksymbol>() const;
template <>
LOFT_API std::optional<BpfEvent> Record::as<BpfEvent>() const;
template <>
LOFT_API std::optional<Cgroup> Record::as<Cgroup>() const;
template <>
LOFT_API std::optional<TextPoke> Record::as<TextPoke>() const;
template <>
LOFT_API std::optional<Aux> Record::as<Aux>() const;
template <>
LOFT_API std::optional<ItraceStart> Record::as<ItraceStart>() const;
template <>
LOFT_API std::optional<Read> Record::as<Read>() const;
template <>
LOFT_API std::optional<IdIndex> Record::as<IdIndex>() const;
template <>
LOFT_API std::optional<ThreadMap> Record::as<ThreadMap>() const;
template <>
LOFT_API std::optional<TimeConversion> Record::as<TimeConversion>() const;
template <>
LOFT_API std::optional<StatValue> Record::as<StatValue>() const;
template <>
LOFT_API std::optional<StatRound> Record::as<StatRound>() const;
template <>
LOFT_API std::optional<BuildId> Record::as<BuildId>() const;
template <>
LOFT_API std::optional<EventUpdate> Record::as<EventUpdate>() const;

// Only those that are set are called; on_record gets every record that no other one took.
struct Callbacks {
  std::function<void(const Record&, const Sample&)> on_sample;
  std::function<void(const Record&, const Mmap&)> on_mmap;
  std::function<void(const Record&, const Comm&)> on_comm;
  std::function<void(const Record&, const Task&)> on_fork;
  std::function<void(const Record&, const Task&)> on_exit;
  std::function<void(const Record&, const Lost&)> on_lost;
  std::function<void(const Record&, const Switch&)> on_switch;
  std::function<void(const Record&)> on_record;
};

class LOFT_API Reader {
 public:
  // A file, a directory of `perf record --threads`, a pipe, or "-" for standard input. Null when it
  // is no recording; `why` then says why and what to do.
  [[nodiscard]] static std::unique_ptr<Reader> open(const std::string& path, std::string& why);
  ~Reader();

  [[nodiscard]] const Metadata& metadata() const;
  [[nodiscard]] const std::map<std::string, std::uint64_t>& records_by_type() const;
  [[nodiscard]] std::uint64_t lost() const;
  [[nodiscard]] const std::vector<std::string>& problems() const;

  class LOFT_API Iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = Record;
    using difference_type = std::ptrdiff_t;
    using pointer = const Record*;
    using reference = const Record&;

    [[nodiscard]] const Record& operator*() const;
    [[nodiscard]] const Record* operator->() const { return &**this; }
    Iterator& operator++();
    void operator++(int) { ++*this; }
    [[nodiscard]] bool operator==(std::default_sentinel_t) const { return state_ == nullptr; }

   private:
    friend class Reader;
    struct State;
    std::shared_ptr<State> state_;  // null at the end
  };
  [[nodiscard]] Iterator begin() const;
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }

  void run(const Callbacks& calls) const;

 private:
  friend class Record;
  struct Implementation;
  explicit Reader(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace loft::perf_data
