// Windows of a run under the engine: some thousand instructions in a row, with what models of
// caches, TLBs and branch predictor said about each. They are what core/timing.hpp times.
//
//   WindowKeeper keeper(geometry);                  // core/geometry.hpp
//   request.windows = &keeper;                      // of a CountRequest for the virtual PMU
//   ... the run ...
//   for (const KeptWindow& kept : keeper.windows())
//     use(time_window(kept.window, core));          // by_block[i] belongs to kept.functions[i]
//
// The engine opens its stream of addresses for short times, spread over the run. The first part of
// each warms the models; from the rest windows are kept, a gap apart. Of a long run a random choice
// of all windows stays. Functions that the plan names are seen in any case, if they run long
// enough: the stream is opened while they run, and a window is kept when the program enters one of
// them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/geometry.hpp"
#include "core/window.hpp"
#include "engine/window_schedule.hpp"

namespace loft::engine {
class Shared;
}

namespace loft::source::virtual_pmu {

class FunctionFinder;

// A function as a profile of the program names it.
struct WindowedFunction {
  std::string name;
  std::string binary;
  bool operator==(const WindowedFunction&) const = default;
};

struct WindowPlan {
  std::uint64_t warm_up = 400'000;    // instructions of a thread before its first window
  std::uint64_t length = 6'000;       // instructions of a window
  std::uint64_t gap = 40'000;         // from one window of a thread to the next
  std::size_t most = 64;              // windows that are kept
  engine::WindowLimits stream;        // when the engine opens its stream
  std::vector<WindowedFunction> hot;  // that must be seen
};

struct KeptWindow {
  core::Window window;
  std::vector<std::uint32_t> functions;  // of each of the window's blocks: in WindowKeeper's list
  std::vector<std::uint64_t> addresses;  // of its instructions, as their binary's tables have them
  std::uint64_t executed_before = 0;     // instructions of the whole program
  std::size_t number = 0;                // its place among all windows
};

class WindowKeeper {
 public:
  using Function = WindowedFunction;

  // Each part of the geometry has passed its check().
  explicit WindowKeeper(const core::MachineGeometry& geometry, const WindowPlan& plan = {});
  ~WindowKeeper();
  WindowKeeper(const WindowKeeper&) = delete;
  WindowKeeper& operator=(const WindowKeeper&) = delete;

  // For the source that runs the program: before its start, and after its end.
  void attach(engine::Shared& shared);
  void finish(const engine::Shared& shared, FunctionFinder& finder);

  // Complete after finish().
  [[nodiscard]] const std::vector<KeptWindow>& windows() const;
  [[nodiscard]] const std::vector<Function>& functions() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace loft::source::virtual_pmu
