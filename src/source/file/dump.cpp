#include "source/file/dump.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "source/file/describe.hpp"
#include "source/file/record_filter.hpp"

namespace loft::source {
namespace {

constexpr std::size_t kBatch = 2048;     // records
constexpr std::size_t kAheadOfEach = 3;  // batches that wait for each thread, or to be written

// What one thread writes with.
struct Part {
  Part(const Recording& recording, sample::Locations& locations,
       const sample::ProfileFilter& wanted, std::unique_ptr<sample::RecordWriter> its_writer)
      : filter(recording, locations, wanted),
        describer(recording, locations),
        writer(std::move(its_writer)) {}

  void write(std::span<const PlacedRecord> records, TextBuffer& text) {
    // How far ahead memory is asked for: first the record, then what its address is looked up in.
    constexpr std::size_t kRecordAhead = 8;
    constexpr std::size_t kAddressAhead = 3;
    text.clear();
    writer->exchange(text);
    for (std::size_t i = 0; i < records.size(); ++i) {
      if (i + kRecordAhead < records.size())
        RecordDescriber::prefetch_bytes(records[i + kRecordAhead]);
      if (i + kAddressAhead < records.size()) describer.prefetch(records[i + kAddressAhead]);
      if (filter.passes(records[i])) describer.describe(records[i], *writer);
    }
    writer->exchange(text);
  }

  RecordFilter filter;
  RecordDescriber describer;
  std::unique_ptr<sample::RecordWriter> writer;
};

// Batches on their way: added in order, put into words by whichever thread is free, written in
// order. Nobody waits for the slowest of a round.
class Crew {
 public:
  using Write = std::function<bool(std::string_view)>;

  explicit Crew(std::vector<std::unique_ptr<Part>> parts)
      : parts_(std::move(parts)), jobs_(parts_.size() * kAheadOfEach) {
    for (const auto& part : parts_) {
      try {
        threads_.emplace_back([this, &part] { work(*part); });
      } catch (const std::system_error&) {
        if (threads_.empty()) throw;
        break;  // fewer do as well
      }
    }
  }
  ~Crew() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    added_one_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Takes the records; where there is no room, the oldest batch is written first. False once a
  // write failed.
  bool add(std::vector<PlacedRecord>& batch, const Write& write) {
    if (added_ - written_ == jobs_.size() && !write_oldest(write)) return false;
    {
      const std::lock_guard lock(mutex_);
      Job& job = jobs_[added_++ % jobs_.size()];
      job.records.swap(batch);
      job.is_done = false;
    }
    batch.clear();
    added_one_.notify_one();
    return true;
  }

  bool finish(const Write& write) {
    while (written_ < added_)
      if (!write_oldest(write)) return false;
    return true;
  }

 private:
  struct Job {
    std::vector<PlacedRecord> records;
    TextBuffer text;
    bool is_done = false;
    std::exception_ptr thrown;  // instead of a text
  };

  bool write_oldest(const Write& write) {
    Job& job = jobs_[written_++ % jobs_.size()];
    {
      std::unique_lock lock(mutex_);
      did_one_.wait(lock, [&] { return job.is_done; });
    }
    if (job.thrown) std::rethrow_exception(job.thrown);
    return write(job.text.view());
  }

  void work(Part& part) {
    std::unique_lock lock(mutex_);
    for (;;) {
      added_one_.wait(lock, [&] { return ends_ || taken_ < added_; });
      if (ends_) return;
      Job& job = jobs_[taken_++ % jobs_.size()];
      lock.unlock();
      try {
        part.write(job.records, job.text);
      } catch (...) {
        job.thrown = std::current_exception();
      }
      lock.lock();
      job.is_done = true;
      did_one_.notify_one();
    }
  }

  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<Job> jobs_;
  std::mutex mutex_;  // guards all below but written_, and what the jobs say of themselves
  std::condition_variable added_one_;
  std::condition_variable did_one_;
  std::size_t added_ = 0;
  std::size_t taken_ = 0;
  std::size_t written_ = 0;
  bool ends_ = false;
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
    if (gathered.size() == kBatch) goes_on = crew.add(gathered, write);
    return goes_on;
  });
  if (goes_on && crew.add(gathered, write)) crew.finish(write);
}

}  // namespace loft::source
