#include "source/file/dump.hpp"

#include <thread>

#include "source/file/describe.hpp"
#include "source/file/record_filter.hpp"

namespace loft::source {
namespace {

constexpr std::size_t kBatch = 1u << 15;

// One thread's part: what it writes with, and what it wrote last.
struct Part {
  Part(const Recording& recording, sample::Locations& locations,
       const sample::ProfileFilter& wanted, std::unique_ptr<sample::RecordWriter> its_writer)
      : filter(recording, locations, wanted),
        describer(recording, locations),
        writer(std::move(its_writer)) {}

  void write(std::span<const PlacedRecord> records) {
    for (const PlacedRecord& placed : records)
      if (filter.passes(placed)) describer.describe(placed, *writer);
    text = writer->take();
  }

  RecordFilter filter;
  RecordDescriber describer;
  std::unique_ptr<sample::RecordWriter> writer;
  std::string text;
};

}  // namespace

void dump_records(const Recording& recording, sample::Locations& locations,
                  const sample::ProfileFilter& filter, unsigned workers,
                  const std::function<std::unique_ptr<sample::RecordWriter>()>& make_writer,
                  const std::function<bool(std::string_view)>& write) {
  std::vector<std::unique_ptr<Part>> parts;
  for (unsigned i = 0; i < workers; ++i)
    parts.push_back(std::make_unique<Part>(recording, locations, filter, make_writer()));
  std::vector<PlacedRecord> batch;
  batch.reserve(kBatch);
  const auto write_batch = [&] {
    const std::size_t share = batch.size() / workers + 1;
    const auto slice = [&](std::size_t i) {
      const std::size_t first = std::min(batch.size(), i * share);
      return std::span(batch).subspan(first, std::min(share, batch.size() - first));
    };
    std::vector<std::thread> threads;
    for (std::size_t i = 1; i < parts.size(); ++i)
      threads.emplace_back([&, i] { parts[i]->write(slice(i)); });
    parts[0]->write(slice(0));
    for (auto& thread : threads) thread.join();
    batch.clear();
    for (const auto& part : parts)
      if (!write(part->text)) return false;
    return true;
  };
  bool goes_on = true;
  recording.in_order([&](const PlacedRecord& placed) {
    batch.push_back(placed);
    if (batch.size() == kBatch) goes_on = write_batch();
    return goes_on;
  });
  if (goes_on) write_batch();
}

}  // namespace loft::source
