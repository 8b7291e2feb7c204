// A sample of two cores, one of them off, with an event that cannot be counted and a meter that
// does not work.
#pragma once

#include "top/frame.hpp"

namespace loft::top {

inline Frame frame_of_two_cores() {
  auto set = std::make_shared<CoreSet>();
  for (const char* name : {"switches", "cycles"}) {
    event::Event event;
    event.name = name;
    set->request.events.push_back(event);
    set->frame.events.push_back(sample::CountedEvent::of(event));
  }
  set->why_missing = {"", "no such counter"};
  CoreSample read;
  read.cpu = 0;
  read.set = set;
  read.start = std::chrono::milliseconds(100);
  read.end = std::chrono::milliseconds(600);
  read.counts = {sample::Count::exact(700), sample::Count::missing("no such counter")};
  read.busy = 0.25;
  CoreSample off;
  off.cpu = 1;
  off.why = "the CPU is off";
  Frame frame;
  frame.number = 1;
  frame.time = std::chrono::milliseconds(600);
  frame.cores = {read, off};
  frame.energy = {{"package-0", 6.0, 12.0, false, sample::Origin::counted},
                  {"psys", std::nullopt, std::nullopt, false, sample::Origin::counted}};
  frame.cost.cpu_share = 0.002;
  return frame;
}

}  // namespace loft::top
