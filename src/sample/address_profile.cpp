#include "sample/address_profile.hpp"

namespace loft::sample {

class AddressProfile::Worker : public SampleSink {
 public:
  explicit Worker(const AddressProfile& profile)
      : profile_(profile), resolver_(profile.locations_, profile.history_) {}

  void add(const Sample& sample) override {
    if (sample.event != profile_.event_ || sample.mode != CpuMode::user) return;
    const TaskHistory::Root space = profile_.history_.space_at(sample.pid, sample.time);
    const Mapping* mapping = profile_.history_.find(space, sample.ip);
    if (mapping == nullptr) return;
    const std::uint32_t location = resolver_.user(space, sample.ip);
    const std::uint64_t address = profile_.locations_.table_of(mapping->binary)
                                      .address_of(sample.ip, mapping->start, mapping->file_offset);
    met_[{profile_.locations_.at(location).function, address}] += {1, sample.period};
  }

  using Met = std::map<std::pair<std::uint32_t, std::uint64_t>, Weight>;
  [[nodiscard]] const Met& met() const { return met_; }

 private:
  const AddressProfile& profile_;
  FrameResolver resolver_;
  Met met_;
};

AddressProfile::AddressProfile(const TaskHistory& history, Locations& locations,
                               std::uint32_t event)
    : history_(history), locations_(locations), event_(event) {}
AddressProfile::~AddressProfile() = default;

SampleSink* AddressProfile::worker(unsigned number) {
  const std::lock_guard lock(mutex_);
  if (number >= workers_.size()) workers_.resize(number + 1);
  if (workers_[number] == nullptr) workers_[number] = std::make_unique<Worker>(*this);
  return workers_[number].get();
}

std::vector<MetAddress> AddressProfile::finish() const {
  Worker::Met all;
  for (const auto& worker : workers_) {
    if (worker == nullptr) continue;
    for (const auto& [place, weight] : worker->met()) all[place] += weight;
  }
  std::vector<MetAddress> met;
  for (const auto& [place, weight] : all) met.push_back({place.first, place.second, weight});
  return met;
}

}  // namespace loft::sample
