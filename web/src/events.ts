// Which event tables and flame graphs show: one choice, wherever it is made.

import { State } from "./state";
import { choice, setChoice } from "./dom";

// Nothing where there is nothing to choose.
export function eventChoice(state: State, events: string[]): HTMLElement | null {
  if (events.length < 2) return null;
  const shown = () => (events.includes(state.choices.event) ? state.choices.event : events[0]);
  const element = choice("event", events.map((event): [string, string] => [event, event]), shown(),
    (event) => state.set({ event }));
  state.onChange((changed) => {
    if ("event" in changed) setChoice(element, shown());
  });
  return element;
}
