#include "cli/record_control.hpp"

#include <memory>
#include <optional>

#include "cli/names.hpp"
#include "metric/request.hpp"
#include "top/control_files.hpp"

namespace loft::cli {
namespace {

using Events = std::vector<event::Event>;

// Lives as long as the request that asks it.
class ControlledEvents {
 public:
  ControlledEvents(top::ControlFile file, const MetricFlags& metrics, Terminal& terminal)
      : file_(std::move(file)),
        metrics_(metrics),
        resolver_(known_names(false)),
        terminal_(terminal) {}

  // What the file says where it is new; nothing where it has not changed.
  std::optional<Result<Events>> changed() {
    auto names = file_.changed();
    if (!names) return std::nullopt;
    if (!*names) return Failure(names->error());
    names_ = **names;
    return of_names(names_);
  }
  Result<Events> of_names(const std::string& names) {
    return events_of(names, metrics_, resolver_, terminal_);
  }

  std::optional<Events> next() {
    auto events = changed();
    if (!events) return std::nullopt;
    if (*events) return **std::move(events);
    tell(Failure(events->error()));
    return std::nullopt;
  }

  void tell(const Result<void>& changed) {
    terminal_.note(changed ? "loft: from now on it counts " + names_ + "\n"
                           : "loft: the control file is not used, the events stay: " +
                                 to_string(changed.error()) + "\n");
    (void)terminal_.flush();  // a failure shows again at the end
  }

 private:
  top::ControlFile file_;
  MetricFlags metrics_;
  event::Resolver resolver_;
  Terminal& terminal_;
  std::string names_;
};

}  // namespace

Result<std::vector<event::Event>> events_of(const std::string& list, const MetricFlags& metrics,
                                            event::Resolver& resolver, Terminal& terminal) {
  metric::Request request;
  if (metrics.files.empty()) {
    LOFT_TRY(request, metric::read_request({list}, resolver,
                                           [&] { return load_metrics(metrics, terminal); }));
  } else {
    LOFT_TRY(const auto library, load_metrics(metrics, terminal));
    LOFT_TRY(request, metric::read_request({list}, resolver, library));
  }
  for (std::size_t p = 0; p < request.programs.size(); ++p)
    for (std::size_t i = 0; i < request.operands[p].size(); ++i)
      if (const auto& why = request.operands[p][i].why; !why.empty())
        return failure(ErrorKind::unsupported, "record " + list,
                       "it needs " + request.programs[p].inputs()[i] + ": " + why);
  return std::move(request.events);
}

Result<void> use_control_file(const std::string& path, const std::string& events,
                              const MetricFlags& metrics, source::scheduler::RecordRequest& request,
                              Terminal& terminal) {
  LOFT_TRY(auto file, top::ControlFile::open(path, events, "the program"));
  auto controlled = std::make_shared<ControlledEvents>(std::move(file), metrics, terminal);
  if (auto of_file = controlled->changed()) {
    LOFT_TRY(request.events, *std::move(of_file));
    request.events_may_be_missing = false;
  } else {
    LOFT_TRY(request.events, controlled->of_names(events));
  }
  request.next_events = [controlled] { return controlled->next(); };
  request.on_change = [controlled](const Result<void>& changed) { controlled->tell(changed); };
  return {};
}

}  // namespace loft::cli
