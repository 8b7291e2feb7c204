#include "source/file/dump.hpp"

#include <algorithm>
#include <thread>

#include "source/file/describe.hpp"
#include "source/file/record_filter.hpp"

namespace loft::source {
namespace {

constexpr std::size_t kBatch = 1u << 13;

// One thread's part: what it writes with, and what it wrote last.
struct Part {
  Part(const Recording& recording, sample::Locations& locations,
       const sample::ProfileFilter& wanted, std::unique_ptr<sample::RecordWriter> its_writer)
      : filter(recording, locations, wanted),
        describer(recording, locations),
        writer(std::move(its_writer)) {}

  void write(std::span<const PlacedRecord> records) {
    // How far ahead memory is asked for: first the record, then what its address is looked up in.
    constexpr std::size_t kRecordAhead = 8;
    constexpr std::size_t kAddressAhead = 3;
    writer->clear();
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (i + kRecordAhead < records.size())
        RecordDescriber::prefetch_bytes(records[i + kRecordAhead]);
      if (i + kAddressAhead < records.size()) describer.prefetch(records[i + kAddressAhead]);
      if (filter.passes(records[i])) describer.describe(records[i], *writer);
    }
  }

  RecordFilter filter;
  RecordDescriber describer;
  std::unique_ptr<sample::RecordWriter> writer;
};

// The threads that put a batch into words, each its share, while the next one is gathered.
class Crew {
 public:
  using Write = std::function<bool(std::string_view)>;

  explicit Crew(std::vector<std::unique_ptr<Part>> parts) : parts_(std::move(parts)) {}
  ~Crew() { join(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // The records of the batch before are done with and make room for those of the next.
  void start(std::vector<PlacedRecord>& batch) {
    batch_.swap(batch);
    batch.clear();
    const std::size_t share = batch_.size() / parts_.size() + 1;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::size_t first = std::min(batch_.size(), i * share);
      const auto slice = std::span(batch_).subspan(first, std::min(share, batch_.size() - first));
      threads_.emplace_back([part = parts_[i].get(), slice] { part->write(slice); });
    }
  }

  // Waits for the batch at work and writes it; true when there is none.
  bool finish(const Write& write) {
    if (threads_.empty()) return true;
    join();
    return std::all_of(parts_.begin(), parts_.end(),
                       [&](const auto& part) { return write(part->writer->written()); });
  }

 private:
  void join() {
    for (auto& thread : threads_) thread.join();
    threads_.clear();
  }

  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<PlacedRecord> batch_;
  std::vector<std::thread> threads_;
};

}  // namespace

void dump_records(const Recording& recording, sample::Locations& locations,
                  const sample::ProfileFilter& filter, unsigned workers,
                  const std::function<std::unique_ptr<sample::RecordWriter>()>& make_writer,
                  const std::function<bool(std::string_view)>& write) {
  std::vector<std::unique_ptr<Part>> parts;
  for (unsigned i = 0; i < workers; ++i)
    parts.push_back(std::make_unique<Part>(recording, locations, filter, make_writer()));
  Crew crew(std::move(parts));
  std::vector<PlacedRecord> gathered;
  gathered.reserve(kBatch);
  bool goes_on = true;
  recording.in_order([&](const PlacedRecord& placed) {
    gathered.push_back(placed);
    if (gathered.size() < kBatch) return true;
    goes_on = crew.finish(write);
    if (goes_on) crew.start(gathered);
    return goes_on;
  });
  if (!goes_on || !crew.finish(write)) return;
  crew.start(gathered);
  crew.finish(write);
}

}  // namespace loft::source
