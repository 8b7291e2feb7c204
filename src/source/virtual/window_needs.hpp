// Which functions still lack windows, and when one is worth opening for them. A run knows from an
// earlier one where its time goes; functions that take much of it must be seen, however short a
// part of the run they are.
//
//   WindowNeeds needs(2);                              // functions, numbered from 0
//   needs.add_executed(instructions, all);             // since the last call: of each, and in all
//   if (needs.wants_window()) open(needs.bytes(planned));
//   ... needs.add_recorded(1, 6'000);  needs.end_window();
//
// A function has been seen when two windows of the stream have given enough of it. One that a
// window missed gets longer ones; after some misses it is given up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace loft::source::virtual_pmu {

class WindowNeeds {
 public:
  explicit WindowNeeds(std::size_t functions) : functions_(functions) {}

  // What ran since the last call: of each function, and in all.
  void add_executed(std::span<const std::uint64_t> instructions, std::uint64_t all);
  // Whether a function that ran just now lacks windows.
  [[nodiscard]] bool wants_window() const { return wanted_ != kNone; }
  // How many bytes of the stream the window is to have.
  [[nodiscard]] std::uint64_t bytes(std::uint64_t planned) const;
  // The window is open: it is for the function that wanted it.
  void start_window();

  // Whether more of the function is to be recorded in this window of the stream.
  [[nodiscard]] bool lacks(std::uint32_t function) const;
  // One recorded window has so many of its instructions.
  void add_recorded(std::uint32_t function, std::uint64_t instructions);
  // Does nothing where none was open.
  void end_window();

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Function {
    std::uint64_t instructions = 0;  // recorded in this window of the stream
    std::uint32_t windows = 0;       // that they were recorded in
    std::uint32_t seen = 0;          // windows of the stream that gave enough of it
    std::uint32_t missed = 0;        // that were opened for it and did not
  };
  [[nodiscard]] static bool has_enough(const Function& function);
  [[nodiscard]] static bool is_open(const Function& function);

  std::vector<Function> functions_;
  std::uint32_t wanted_ = kNone;    // that ran just now
  std::uint32_t open_for_ = kNone;  // that the window was opened for
};

}  // namespace loft::source::virtual_pmu
