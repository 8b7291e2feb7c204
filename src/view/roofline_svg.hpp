// The roofline as a drawing: intensity across, performance up, both logarithmic. Slopes are the
// memory levels, ceilings the peaks; points are what `loft roof` puts under them, none for
// a machine alone.
#pragma once

#include <span>
#include <string>

#include "model/roofline.hpp"

namespace loft::view {

struct DrawingSize {
  int width = 960;
  int height = 640;
};

// A whole SVG document, readable without anything else. Text of points is escaped.
std::string roofline_svg(const model::Roofline& roofline,
                         std::span<const model::RooflinePoint> points = {}, DrawingSize size = {});

}  // namespace loft::view
