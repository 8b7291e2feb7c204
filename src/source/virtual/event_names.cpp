#include "source/virtual/event_names.hpp"

#ifdef LOFT_HAS_ENGINE
#include "core/modelled_events.hpp"
#include "engine/classify/events.hpp"
#endif

namespace loft::source::virtual_pmu {

#ifdef LOFT_HAS_ENGINE
const std::vector<event::VirtualName>& event_names() {
  static const std::vector<event::VirtualName> names = [] {
    std::vector<event::VirtualName> table;
    const auto& all = engine::event_table();
    table.reserve(all.size());
    for (const engine::EventInfo& info : all)
      table.push_back({info.name, info.unit == "bytes" ? "B" : "", info.description, table.size(),
                       event::VirtualKind::exact});
    for (const core::ModelledEvent& modelled : core::modelled_events())
      table.push_back({std::string(modelled.name), std::string(modelled.unit),
                       std::string(modelled.description) + " (modelled)", table.size(),
                       event::VirtualKind::modelled});
    return table;
  }();
  return names;
}
#else
const std::vector<event::VirtualName>& event_names() {
  static const std::vector<event::VirtualName> none;
  return none;
}
#endif

}  // namespace loft::source::virtual_pmu
