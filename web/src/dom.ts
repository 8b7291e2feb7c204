// Elements, made of tags and texts. Text from the data only ever becomes a text node.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | ((event: any) => void)>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => child != null && child !== ""));
  return element;
}

// A name of unknown script: its direction stays its own.
export function name(text: string, className = ""): HTMLElement {
  return h("bdi", className ? { class: className } : {}, text);
}

// A part of the page with its heading, the tools beside it and a link from the top.
export function section(id: string, title: string, ...tools: Child[]): HTMLElement {
  return h("section", { id, "aria-labelledby": `${id}-title` },
    h("div", { class: "bar" }, h("h2", { id: `${id}-title` }, title), ...tools));
}

const kLettersInARow = 70;

// A choice of one of several, as buttons in a row; as a list where they would fill several rows.
export function choice(label: string, options: [string, string][], chosen: string,
                       choose: (value: string) => void): HTMLElement {
  if (options.reduce((letters, [, text]) => letters + text.length + 3, 0) > kLettersInARow)
    return listChoice(label, options, chosen, choose);
  const buttons = options.map(([value, text]) => h("button", {
    type: "button", "aria-pressed": String(value === chosen), "data-value": value,
    onclick: () => {
      for (const button of buttons)
        button.setAttribute("aria-pressed", String(button.dataset.value === value));
      choose(value);
    },
  }, text));
  return h("div", { class: "choice", role: "group", "aria-label": label }, h("span", {}, label), ...buttons);
}

function listChoice(label: string, options: [string, string][], chosen: string,
                    choose: (value: string) => void): HTMLElement {
  const list: HTMLSelectElement = h("select", { "aria-label": label, onchange: () => choose(list.value) },
    ...options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)));
  return h("div", { class: "choice", role: "group", "aria-label": label }, h("span", {}, label), list);
}

// Shows what was chosen elsewhere.
export function setChoice(element: HTMLElement, value: string): void {
  const list = element.querySelector("select");
  if (list) list.value = value;
  for (const button of element.querySelectorAll<HTMLElement>("button"))
    button.setAttribute("aria-pressed", String(button.dataset.value === value));
}

export function search(label: string, change: (text: string) => void): HTMLInputElement {
  return h("input", {
    type: "search", placeholder: label, "aria-label": label, spellcheck: "false", autocomplete: "off",
    oninput: (event: Event) => change((event.target as HTMLInputElement).value),
  });
}

let speaker: HTMLElement | null = null;

// For readers of the screen: what a mouse would see while it hovers.
export function say(text: string): void {
  if (!speaker) {
    speaker = h("div", { class: "unseen", "aria-live": "polite", id: "spoken" });
    document.body.append(speaker);
  }
  speaker.textContent = text;
}
