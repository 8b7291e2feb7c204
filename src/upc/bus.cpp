#include "upc/bus.hpp"

#include <fmt/format.h>

namespace loft::upc {
namespace {

Failure failed(const char* verb, unsigned address, BusError error, bool gone) {
  std::string what = fmt::format("{} register {:#x} of the counter unit", verb, address);
  if (gone) return failure(ErrorKind::io, std::move(what), "the unit is not clocked any more");
  if (error == BusError::parity)
    return failure(ErrorKind::malformed, std::move(what), "its memory word has wrong parity",
                   "write the register to repair it");
  return failure(ErrorKind::invalid_input, std::move(what),
                 "there is none at this address, or it is read-only");
}

}  // namespace

Result<std::uint64_t> Bus::read(unsigned address) {
  const Answer answer = access({true, false, address, 0});
  if (answer.gone || answer.error != BusError::none)
    return failed("read", address, answer.error, answer.gone);
  return answer.data;
}

Result<void> Bus::write(unsigned address, std::uint64_t data) {
  const Answer answer = access({true, true, address, data});
  if (answer.gone || answer.error != BusError::none)
    return failed("write", address, answer.error, answer.gone);
  return {};
}

Bus::Answer DirectBus::access(const BusRequest& request) {
  while (!unit_.pins().ready) unit_.step(inputs_());
  unit_.step(inputs_(), request);
  unit_.step(inputs_());  // answers come two cycles after the request was taken
  return {unit_.pins().data, unit_.pins().error};
}

void SharedBus::step(std::span<const std::uint64_t> inputs) {
  if (state_.load(std::memory_order_acquire) != State::requested) return unit_.step(inputs);
  const Pins pins = unit_.pins();
  if (taken_) {
    unit_.step(inputs);
    const Pins now = unit_.pins();
    if (!now.response) return;
    taken_ = false;
    answer_ = {now.data, now.error};
    state_.store(State::idle, std::memory_order_release);
    state_.notify_all();
    return;
  }
  unit_.step(inputs, request_);
  taken_ = pins.ready;
}

void SharedBus::close() {
  state_.store(State::closed, std::memory_order_release);
  state_.notify_all();
}

Bus::Answer SharedBus::access(const BusRequest& request) {
  const std::lock_guard lock(one_at_a_time_);
  request_ = request;
  State state = State::idle;
  if (!state_.compare_exchange_strong(state, State::requested, std::memory_order_acq_rel))
    return {0, BusError::none, true};
  state_.wait(State::requested, std::memory_order_acquire);
  if (state_.load(std::memory_order_acquire) == State::closed) return {0, BusError::none, true};
  return answer_;
}

}  // namespace loft::upc
