// The roofline as a drawing: intensity across, performance up, both logarithmic. Slopes are the
// memory levels, ceilings the peaks; points are what `loft roof` puts under them, none for
// a machine alone.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/roof_points.hpp"

namespace loft::view {

struct DrawingSize {
  int width = 960;
  int height = 640;
};

// The points of one run, in one colour.
struct PointSeries {
  std::string label;  // of the run; empty where there is only one
  std::vector<const model::RoofPoint*> points;
};

// A whole SVG document, readable without anything else. Text of points is escaped. Points without
// intensity or rate are left out.
std::string roofline_svg(const model::Roofline& roofline, std::span<const PointSeries> series = {},
                         DrawingSize size = {});

}  // namespace loft::view
