#include "metric/request.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/text.hpp"
#include "metric/evaluation.hpp"

namespace loft::metric {
namespace {

using Events = std::vector<event::Event>;

// Commas inside braces or slashes do not separate.
std::vector<std::string> items_of(const std::string& list) {
  std::vector<std::string> items(1);
  int depth = 0;
  bool in_pmu = false;
  for (const char c : list) {
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == '/') in_pmu = !in_pmu;
    if (c == ',' && depth == 0 && !in_pmu) {
      items.emplace_back();
    } else {
      items.back() += c;
    }
  }
  return items;
}

// Whether all are the same event of several PMUs: instances of an uncore PMU, or kinds of cores.
bool are_instances(const Events& all, const std::vector<std::size_t>& members) {
  const auto name = [&](std::size_t member) { return event::plain_name(all[member].name); };
  return std::ranges::all_of(members, [&](std::size_t member) {
    return name(member) == name(members.front()) &&
           all[member].modifiers == all[members.front()].modifiers;
  });
}

// Resolves every name once, and remembers what came of it.
class RequestReader {
 public:
  RequestReader(event::Resolver& resolver, const LoadLibrary& load, const Library* library)
      : resolver_(resolver), load_(load), library_(library) {}

  Result<Request> read(const std::vector<std::string>& lists) {
    std::vector<std::string> metrics;
    for (const std::string& list : lists)
      for (const std::string& item : items_of(list)) {
        LOFT_TRY(const bool is_metric, names_metric(item));
        if (is_metric) {
          metrics.push_back(item);
        } else {
          LOFT_CHECK(add_named(item));
        }
      }
    request_.named = request_.events.size();
    if (metrics.empty()) return std::move(request_);
    LOFT_TRY(request_.programs,
             compile_all(*library_, metrics, [this](auto name) { return is_countable(name); }));
    for (const Program& program : request_.programs) bind(program);
    return std::move(request_);
  }

 private:
  const Result<Events>& resolved(std::string_view name) {
    const auto known = resolved_.find(name);
    if (known != resolved_.end()) return known->second;
    return resolved_.emplace(std::string(name), resolver_.resolve_list(name)).first->second;
  }

  bool is_countable(std::string_view name) {
    if (name == "time") return true;
    const auto& events = resolved(name);
    return events && std::ranges::all_of(*events, [](const event::Event& event) {
             return event.uncountable.empty();
           });
  }

  Result<bool> names_metric(const std::string& item) {
    if (library_ == nullptr) {
      if (resolved(item)) return false;
      LOFT_TRY(loaded_, load_());
      library_ = &*loaded_;
    }
    const auto variants = library_->find(item);
    if (variants.empty()) return false;
    const bool only_alias = std::ranges::all_of(
        variants, [](const auto* variant) { return variant->kind == DefinitionKind::alias; });
    // A PAPI preset that is one event here is counted as that event.
    return !only_alias || !is_countable(item);
  }

  Result<void> add_named(const std::string& item) {
    const auto& events = resolved(item);
    if (events) {
      add(*events);
      return {};
    }
    if (events.error().kind != ErrorKind::unsupported) return Failure(events.error());
    event::Event unknown;
    unknown.name = trim(item);
    unknown.uncountable = events.error().why;
    request_.events.push_back(std::move(unknown));
    return {};
  }

  // Groups of different items stay different groups.
  void add(const Events& events) {
    const std::uint32_t before = groups_;
    for (event::Event event : events) {
      if (event.group != 0) event.group += before;
      groups_ = std::max(groups_, event.group);
      request_.events.push_back(std::move(event));
    }
  }

  void bind(const Program& program) {
    std::vector<Operand> operands;
    for (const std::string& name : program.inputs()) operands.push_back(operand(name));
    request_.operands.push_back(std::move(operands));
  }

  Operand operand(const std::string& name) {
    if (name == "time") return {{}, true, {}};
    const auto& events = resolved(name);
    if (!events) return {{}, false, events.error().why};
    Operand operand;
    for (const event::Event& event : *events) operand.events.push_back(place_of(event));
    if (are_instances(request_.events, operand.events)) return operand;
    return {{}, false, "it stands for several different events; name one of them"};
  }

  std::size_t place_of(const event::Event& event) {
    const auto known = std::ranges::find_if(request_.events, [&](const event::Event& other) {
      return other.uncountable.empty() == event.uncountable.empty() &&
             other.counts_the_same_as(event);
    });
    if (known != request_.events.end())
      return static_cast<std::size_t>(known - request_.events.begin());
    request_.events.push_back(event);
    request_.events.back().group = 0;
    return request_.events.size() - 1;
  }

  event::Resolver& resolver_;
  const LoadLibrary& load_;
  const Library* library_;
  std::optional<Library> loaded_;
  std::map<std::string, Result<Events>, std::less<>> resolved_;
  std::uint32_t groups_ = 0;
  Request request_;
};

}  // namespace

bool Request::needs_time() const {
  return std::ranges::any_of(operands, [](const std::vector<Operand>& of_program) {
    return std::ranges::any_of(of_program, &Operand::is_time);
  });
}

Available available_events(event::Resolver& resolver) {
  auto known = std::make_shared<std::map<std::string, bool, std::less<>>>();
  return [known, &resolver](std::string_view name) {
    if (name == "time") return true;
    const auto [at, is_new] = known->try_emplace(std::string(name));
    if (is_new) at->second = resolver.resolve_list(name).has_value();
    return at->second;
  };
}

Result<Request> read_request(const std::vector<std::string>& lists, event::Resolver& resolver,
                             const LoadLibrary& load) {
  return RequestReader(resolver, load, nullptr).read(lists);
}

Result<Request> read_request(const std::vector<std::string>& lists, event::Resolver& resolver,
                             const Library& library) {
  return RequestReader(resolver, {}, &library).read(lists);
}

}  // namespace loft::metric
