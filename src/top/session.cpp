#include "top/session.hpp"

#include <fmt/format.h>
#include <linux/capability.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>

#include "base/privileges.hpp"
#include "top/frame_text.hpp"
#include "top/live_page.hpp"

namespace loft::top {
namespace {

// Looking through all threads costs more than a sample of all cores.
constexpr Nanoseconds kScanEvery = std::chrono::seconds(2);
constexpr std::size_t kThreads = 20;
// The first sample of a screen comes early, however slow its pace is.
constexpr Nanoseconds kFirstSample = std::chrono::milliseconds(100);
constexpr double kShortest_ms = 10;
constexpr double kLongest_ms = 600'000;

bool has_gone(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return ::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0;
}

HttpResponse response_of(std::string type, std::string text) {
  return {200, std::move(type), std::make_shared<std::string>(std::move(text)), false};
}

}  // namespace

Result<void> Session::run() {
  LOFT_TRY(const metric::Request request, options_.read_names(options_.events));
  const bool is_live = !options_.on_frame;
  if (is_live) {
    LOFT_TRY(auto terminal, TerminalScreen::open());
    terminal_.emplace(std::move(terminal));
    options_.screen.has_unicode = terminal_->has_unicode();
    options_.screen.interval_ms = to_seconds(options_.monitor.interval) * 1e3;
    screen_.emplace(options_.screen);
    draw();
    options_.monitor.first = std::min(options_.monitor.interval, kFirstSample);
  }
  LOFT_TRY(auto monitor, Monitor::start(options_.monitor, request));
  monitor_.emplace(std::move(monitor));
  LOFT_CHECK(open_doors());
  drop_privileges();
  ask_for_priority();
  LOFT_CHECK(monitor_->run(run_options()));
  if (broken_) return Failure(*broken_);
  return options_.recording ? options_.recording->finish() : Result<void>();
}

// Who is reached from outside keeps what watching cores takes: counters that are opened anew, the
// priority of readers, registers, and what threads of others sleep in. Readers start later, so that
// they have no more. Files that loft has yet to write, or take away, may be among those of others.
void Session::drop_privileges() const {
  if (!server_) return;
  std::vector<int> kept{CAP_PERFMON, CAP_SYS_NICE, CAP_SYS_RAWIO, CAP_SYS_PTRACE};
  if (files_ || options_.recording)
    kept.insert(kept.end(), {CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER});
  keep_capabilities(kept);
}

Result<void> Session::open_doors() {
  if (!options_.control_folder.empty()) {
    LOFT_TRY(auto files,
             ControlFiles::open(options_.control_folder, monitor_->cores(), options_.events));
    files_.emplace(std::move(files));
  }
  // Containers that share a network may have the same number: then changes come by other ways.
  if (auto socket = ControlSocket::open())
    socket_.emplace(*std::move(socket));
  else
    tell("--send will not reach this process: " + to_string(socket.error()));
  if (!options_.listen) return {};
  LOFT_TRY(auto server, HttpServer::listen(*options_.listen, [this](const HttpRequest& request) {
             return respond(request);
           }));
  server_.emplace(std::move(server));
  tell(fmt::format(
      "listening on http://{}{}{}:{}/, metrics at /metrics",
      options_.listen->host.find(':') == std::string::npos ? "" : "[", options_.listen->host,
      options_.listen->host.find(':') == std::string::npos ? "" : "]", server_->port()));
  return {};
}

RunOptions Session::run_options() {
  RunOptions run;
  run.samples = options_.samples;
  run.on_frame = [this](const Frame& frame) { return take(frame); };
  run.at_boundary = [this] { read_files(); };
  if (socket_)
    run.readable.emplace_back(socket_->fd(), [this] {
      socket_->serve([this](const ControlRequest& request) { return apply(request); });
    });
  if (server_) run.readable.emplace_back(server_->fd(), [this] { server_->serve(); });
  if (terminal_) {
    run.readable.emplace_back(STDIN_FILENO, [] {});
    run.after_wait = [this] { take_keys(); };
  }
  return run;
}

void Session::tell(const std::string& message) {
  if (screen_)
    screen_->tell(message);
  else
    options_.note(message);
}

Result<void> Session::apply(const ControlRequest& request) {
  if (options_.recording)
    return failure(ErrorKind::invalid_input, "change events",
                   "a recording keeps those that it began with");
  CpuList cpus = monitor_->cores();
  if (!request.cores.empty()) {
    LOFT_TRY(cpus, parse_cpu_list(request.cores));
  }
  // All names are looked up before any core changes.
  std::map<int, std::pair<std::string, metric::Request>> changes;
  for (const int cpu : cpus) {
    std::string events = request.events;
    if (events.starts_with('+')) {
      const auto known = events_.find(cpu);
      events = (known == events_.end() ? options_.events : known->second) + "," + events.substr(1);
    }
    LOFT_TRY(auto names, options_.read_names(events));
    changes[cpu] = {std::move(events), std::move(names)};
  }
  for (auto& [cpu, change] : changes) {
    LOFT_CHECK(monitor_->change(cpu, std::move(change.second)));
    events_[cpu] = std::move(change.first);
  }
  return {};
}

void Session::read_files() {
  if (!files_) return;
  for (const FileChange& change : files_->changed()) {
    const Result<void> applied = change.events
                                     ? apply({std::to_string(change.cpu), *change.events})
                                     : Result<void>(tl::make_unexpected(change.events.error()));
    if (!applied)
      tell(fmt::format("the file of CPU {} is not used: {}", change.cpu,
                       to_string(applied.error())));
  }
}

HttpResponse Session::respond(const HttpRequest& request) {
  if (request.path == "/metrics") {
    const ExpositionFormat format = format_for(request.accept);
    auto& text = exposed_[static_cast<std::size_t>(format)];
    if (!text) text = std::make_shared<std::string>(exposition_.text(format));
    return {200, content_type(format), text, false};
  }
  if (request.path == "/events") return {200, "text/event-stream", nullptr, true};
  if (request.path == "/") return response_of("text/html; charset=utf-8", std::string(live_page()));
  if (request.path == "/roofline") {
    const auto& screen = options_.screen;
    return response_of(
        "application/json",
        roofline_json(screen.roofline ? &*screen.roofline : nullptr, screen.why_no_roofline));
  }
  HttpResponse response =
      response_of("text/plain; charset=utf-8", "there is /, /metrics, /events and /roofline\n");
  response.status = 404;
  return response;
}

bool Session::take(const Frame& frame) {
  if (server_) {
    exposition_.add(frame);
    exposed_ = {};
    if (server_->connections() > 0) server_->send_event(frame_json(frame));
  }
  if (options_.recording)
    if (const auto added = options_.recording->add(frame); !added) {
      broken_ = added.error();
      return false;
    }
  return terminal_ ? show(frame) : options_.on_frame(frame);
}

bool Session::show(const Frame& frame) {
  screen_->add(frame);
  if (const Nanoseconds at = now(); screen_->shows_threads() && at >= next_scan_) {
    threads_.update(at);
    screen_->set_threads(threads_.busiest(kThreads));
    next_scan_ = at + kScanEvery;
  }
  draw();
  return true;
}

void Session::draw() { terminal_->draw(screen_->lines(terminal_->rows(), terminal_->columns())); }

void Session::take_keys() {
  bool has_key = false;
  while (const auto key = terminal_->take_key()) {
    has_key = true;
    const KeyAction action = screen_->press(*key);
    if (action.quits) return monitor_->stop();
    if (action.change)
      if (const auto applied = apply(*action.change); !applied) tell(to_string(applied.error()));
    if (action.interval_factor != 1) {
      const double ms = std::clamp(to_seconds(monitor_->interval()) * 1e3 * action.interval_factor,
                                   kShortest_ms, kLongest_ms);
      monitor_->set_interval(Nanoseconds(static_cast<Nanoseconds::rep>(ms * 1e6)));
      screen_->set_interval(ms);
    }
  }
  if (has_key)
    draw();
  else if (has_gone(STDIN_FILENO))
    monitor_->stop();  // with its terminal
}

}  // namespace loft::top
