#ifdef LOFT_HAS_ENGINE
#include "source/virtual/wanted_event.hpp"

#include "core/sampled_events.hpp"

namespace loft::source::virtual_pmu {
namespace {

WantedEvent missing(std::string why) { return {{}, nullptr, false, std::move(why)}; }

}  // namespace

WantedEvent look_up(const event::Event& event, const CountRequest& request) {
  if (!event.encoding.is_virtual()) return missing("the virtual PMU counts virtual:: events alone");
  const std::size_t exact = engine::event_table().size();
  if (event.encoding.config < exact)
    return {static_cast<engine::EventIndex>(event.encoding.config), nullptr, false, {}};
  const auto modelled = core::modelled_events();
  const std::size_t number = event.encoding.config - exact;
  if (number >= modelled.size()) return missing("the virtual PMU has no such event");
  if (request.model == nullptr)
    return missing("a model of caches and predictors computes it: give --model full");
  if (!request.region.empty()) return missing("models need the whole run: leave out --region");
  const std::string_view lacking = core::missing_part(modelled[number], *request.model);
  if (!lacking.empty()) return missing(std::string(lacking));
  if (!request.model_is_sampled) return {{}, &modelled[number], false, {}};
  if (request.split == Split::blocks || request.split == Split::lines)
    return missing("windows say too little of single blocks and lines: give --model full");
  if (!core::sampled_readers(modelled[number]))
    return missing("windows of a run do not tell it: give --model full");
  return {{}, &modelled[number], true, {}};
}

}  // namespace loft::source::virtual_pmu
#endif
