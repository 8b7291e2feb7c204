// One `loft top`: the monitor, those who hear from it (printer, live screen, HTTP clients) and
// those who tell it what to count (control files, `loft top --send`, the keyboard).
//
//   Session session(std::move(options));
//   LOFT_CHECK(session.run());
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "top/control_files.hpp"
#include "top/control_socket.hpp"
#include "top/http_server.hpp"
#include "top/monitor.hpp"
#include "top/openmetrics.hpp"
#include "top/recording.hpp"
#include "top/screen.hpp"
#include "top/terminal_screen.hpp"
#include "top/threads.hpp"

namespace loft::top {

struct SessionOptions {
  MonitorOptions monitor;
  std::string events;  // what all cores count at first, comma-separated
  std::function<Result<metric::Request>(const std::string& events)> read_names;
  std::uint64_t samples = 0;  // 0: until it is ended
  // Takes each sample, and says whether to go on; empty: there is a live screen instead.
  std::function<bool(const Frame&)> on_frame;
  // Takes what a person must know.
  std::function<void(const std::string&)> note;
  ScreenOptions screen;
  std::string control_folder;  // empty: no files
  std::optional<ListenAddress> listen;
  std::optional<CoreRecording> recording;
};

class Session {
 public:
  explicit Session(SessionOptions options) : options_(std::move(options)) {}

  [[nodiscard]] Result<void> run();

 private:
  [[nodiscard]] Result<void> open_doors();
  void drop_privileges() const;
  // Events behind a '+' are counted beside those that the core counts.
  [[nodiscard]] Result<void> apply(const ControlRequest& request);
  void read_files();
  [[nodiscard]] HttpResponse respond(const HttpRequest& request);
  [[nodiscard]] bool take(const Frame& frame);
  [[nodiscard]] bool show(const Frame& frame);
  void take_keys();
  void draw();
  void tell(const std::string& message);
  [[nodiscard]] RunOptions run_options();

  SessionOptions options_;
  std::optional<Monitor> monitor_;
  std::map<int, std::string> events_;  // what each core counts, where that was changed
  std::optional<ControlFiles> files_;
  std::optional<ControlSocket> socket_;
  std::optional<HttpServer> server_;
  std::optional<Error> broken_;  // why the recording ended
  Exposition exposition_;
  std::array<std::shared_ptr<const std::string>, 2> exposed_;  // of the last sample, by format
  std::optional<Screen> screen_;
  std::optional<TerminalScreen> terminal_;
  ThreadScan threads_;
  Nanoseconds next_scan_{};
};

}  // namespace loft::top
