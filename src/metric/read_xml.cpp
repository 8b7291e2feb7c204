// The paper's events as XML. The paper names the form without printing it; this is ours:
//
//   <user_events>
//     <define name="BR_lat" value="5"/>
//     <event name="Branch_cat" unit="cycle/instr" description="...">PAPI_BR_INS|BR_lat|*|...</event>
//   </user_events>
//
// A document type is refused: entities that expand to more entities need one.
#include <fmt/format.h>
#include <tinyxml2.h>

#include "base/text.hpp"
#include "metric/reader.hpp"

namespace loft::metric {
namespace {

class XmlReader {
 public:
  explicit XmlReader(const std::string& name) { file_.name = name; }

  MetricFile read(std::string_view text) {
    tinyxml2::XMLDocument document;
    if (document.Parse(text.data(), text.size()) != tinyxml2::XML_SUCCESS) {
      file_.complain(static_cast<unsigned>(std::max(document.ErrorLineNum(), 0)), 0,
                     fmt::format("this is not well-formed XML ({})", document.ErrorName()));
      return std::move(file_);
    }
    for (const auto* node = document.FirstChild(); node != nullptr; node = node->NextSibling()) {
      if (node->ToUnknown() == nullptr) continue;
      file_.complain(line(*node), 0, "a document type or other declaration is not accepted here");
      return std::move(file_);
    }
    const tinyxml2::XMLElement* root = document.RootElement();
    if (root == nullptr || std::string_view(root->Name()) != "user_events") {
      file_.complain(1, 1, "the element <user_events> was expected");
      return std::move(file_);
    }
    for (const auto* child = root->FirstChildElement(); child != nullptr;
         child = child->NextSiblingElement())
      element(*child);
    return std::move(file_);
  }

 private:
  static unsigned line(const tinyxml2::XMLNode& node) {
    return static_cast<unsigned>(std::max(node.GetLineNum(), 0));
  }

  static std::string attribute(const tinyxml2::XMLElement& element, const char* name) {
    const char* value = element.Attribute(name);
    return value == nullptr ? std::string() : std::string(trim(value));
  }

  void element(const tinyxml2::XMLElement& element) {
    const std::string_view kind = element.Name();
    const std::string name = attribute(element, "name");
    if (kind != "define" && kind != "event") {
      file_.complain(line(element), 0, fmt::format("<{}> is not known; <define> or <event> was expected", kind));
    } else if (name.empty() || name.find_first_of("|, \t\r\n") != std::string::npos) {
      file_.complain(line(element), 0, fmt::format("<{}> needs a name without blanks, bars and commas", kind));
    } else if (kind == "define") {
      constant(element, name);
    } else {
      event(element, name);
    }
  }

  void constant(const tinyxml2::XMLElement& element, const std::string& name) {
    const std::string value = attribute(element, "value");
    const auto number = parse_number(value);
    if (!number) {
      file_.complain(line(element), 0, fmt::format("the value '{}' of {} is not a number", value, name));
      return;
    }
    file_.define(Constant{name, *number, std::nullopt, to_string(Place{file_.name, line(element), 0})},
                 line(element));
  }

  void event(const tinyxml2::XMLElement& element, const std::string& name) {
    const char* text = element.GetText();
    auto formula = parse_rpn(trim(text == nullptr ? "" : text));
    if (!formula) {
      file_.complain(line(element), 0, fmt::format("{}: {}", name, formula.error().why));
      return;
    }
    Definition definition;
    definition.name = name;
    definition.formula = *std::move(formula);
    definition.description = attribute(element, "description");
    definition.place = {file_.name, line(element), 0};
    if (const std::string unit_text = attribute(element, "unit"); !unit_text.empty()) {
      const auto unit = parse_unit(unit_text);
      if (!unit) {
        file_.complain(line(element), 0, fmt::format("{}: {}", name, unit.error().why));
        return;
      }
      definition.unit = *unit;
    }
    file_.define(std::move(definition));
  }

  MetricFile file_;
};

}  // namespace

MetricFile read_papi_xml(const std::string& file_name, std::string_view text) {
  return XmlReader(file_name).read(text);
}

std::string write_papi_xml(const MetricFile& file) {
  tinyxml2::XMLPrinter printer;
  printer.PushHeader(false, true);
  printer.OpenElement("user_events");
  for (const Constant& constant : file.constants) {
    printer.OpenElement("define");
    printer.PushAttribute("name", constant.name.c_str());
    printer.PushAttribute("value", to_string(constant.value).c_str());
    printer.CloseElement();
  }
  for (const Definition& definition : file.definitions) {
    printer.OpenElement("event");
    printer.PushAttribute("name", definition.name.c_str());
    if (definition.unit && !definition.unit->text.empty())
      printer.PushAttribute("unit", definition.unit->text.c_str());
    if (!definition.description.empty())
      printer.PushAttribute("description", printable(definition.description).c_str());
    printer.PushText(to_rpn(definition.formula).c_str());
    printer.CloseElement();
  }
  printer.CloseElement();
  return printer.CStr();
}

}  // namespace loft::metric
