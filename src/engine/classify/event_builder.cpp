#include "engine/classify/event_builder.hpp"

namespace loft::engine::detail {
namespace {

std::string_view unit_of(M measure) {
  switch (measure) {
    case M::instructions:
      return "instructions";
    case M::loads:
      return "loads";
    case M::stores:
      return "stores";
    case M::load_bytes:
    case M::store_bytes:
      return "bytes";
    case M::flops:
    case M::int_ops:
      return "operations";
    case M::taken:
    case M::not_taken:
      return "branches";
    default:
      return "iterations";
  }
}

std::string join(Parts parts, std::string_view separator) {
  std::string text;
  for (const std::string_view part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

}  // namespace

void EventBuilder::add(Words words, M measure, std::initializer_list<Condition> conditions) {
  EventInfo event;
  event.name = join(words.name, "_");
  event.description = join(words.description, " ");
  event.unit = unit_of(measure);
  event.measure = measure;
  for (const Condition& condition : conditions)
    event.conditions[event.condition_count++] = condition;
  events_.push_back(std::move(event));
}

std::string width_words(Width width) {
  if (width == Width::scalar || width == Width::tile) return std::string(name_of(width));
  return std::string(name_of(width)) + "-bit";
}

std::string_view precision_words(Precision precision) {
  switch (precision) {
    case Precision::half:
      return "half precision";
    case Precision::bfloat16:
      return "bfloat16";
    case Precision::single:
      return "single precision";
    case Precision::double_:
      return "double precision";
    default:
      return "";
  }
}

}  // namespace loft::engine::detail
