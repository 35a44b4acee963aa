// The submission form: validation, progress, the custom combobox and the shadow field.
// Nothing here knows what belongs into the fields.
"use strict";

/** How often the form was submitted. Must stay 0. */
window.submitted = 0;
/** What the page was told by events, by element id (radio buttons: by name). */
window.noticed = {};

const form = document.querySelector("form");
const checksum = (orcid) => {
  const digits = orcid.replaceAll("-", "");
  let total = 0;
  for (const digit of digits.slice(0, 15)) total = (total + Number(digit)) * 2;
  const check = (12 - (total % 11)) % 11;
  return digits[15] === (check === 10 ? "X" : String(check));
};
const rules = {
  email: (value) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value) || "This is not an e-mail address.",
  orcid: (value) => (/^\d{4}-\d{4}-\d{4}-\d{3}[\dX]$/.test(value) && checksum(value)) || "This is not an ORCID iD.",
  doi: (value) => /^(https:\/\/doi\.org\/)?10\.\d{4,}\/\S+$/.test(value) || "A DOI starts with 10.",
  short: (value) => value.length <= 60 || "At most 60 characters.",
  keywords: (value) => /^[^;,]+([;,][^;,]+){2,7}$/.test(value) || "Three to eight, separated by semicolons.",
  words: (value) => value.trim().split(/\s+/).length <= 200 || "At most 200 words.",
  count: (value) => (/^\d+$/.test(value) && Number(value) > 0 && Number(value) <= 20000) || "A whole number.",
};

const valueOf = (box) => {
  const one = box.querySelector("select, textarea, .box[contenteditable], [role=combobox], input");
  if (!one) return box.dataset.value ?? "";
  if (one.type === "radio") return box.querySelector("input:checked")?.value ?? "";
  if (one.type === "checkbox") return one.checked ? "yes" : "no";
  if (one.multiple) return [...one.selectedOptions].map((option) => option.value).join(" ");
  if (one.matches("[role=combobox]")) return one.dataset.value ?? "";
  return "value" in one ? one.value : one.innerText.trim();
};

const look = (box, complain) => {
  const value = valueOf(box);
  const verdict = value && rules[box.dataset.rule] ? rules[box.dataset.rule](value) : true;
  const problem = !value ? "" : verdict === true ? "" : verdict;
  box.classList.toggle("good", Boolean(value) && !problem && !box.matches(".tick"));
  box.classList.toggle("bad", complain && Boolean(problem));
  const line = box.querySelector(".problem");
  if (line) line.textContent = complain ? problem : "";
  const control = box.querySelector("input, textarea, select, [role=combobox], [role=textbox]");
  control?.toggleAttribute("aria-invalid", complain && Boolean(problem));
  return Boolean(value) && !problem;
};

const boxes = [...form.querySelectorAll(".field")];
const progress = () => {
  const done = boxes.filter((box) => look(box, false) || box.matches(".tick")).length;
  form.querySelector(".bar output").textContent = `${done} of ${boxes.length} answered`;
  form.querySelector(".meter i").style.width = `${(100 * done) / boxes.length}%`;
  form.querySelector(".bar").classList.toggle("full", done === boxes.length);
};

/** Remembers what an event said, and shows the new state. */
const note = (box, id, value) => {
  window.noticed[id] = value;
  progress();
  if (box) look(box, true);
};
window.note = (id, value) => {
  const box = boxes.find((candidate) => candidate.dataset.inner === id);
  if (box) box.dataset.value = value;
  note(box, id, value);
};

const heard = (event) => {
  const target = event.target;
  const box = target.closest?.(".field");
  if (!box || box.dataset.inner) return;
  const id = target.type === "radio" ? target.name : target.id;
  note(box, id, valueOf(box));
};
form.addEventListener("input", heard);
form.addEventListener("change", heard);
form.addEventListener("submit", (event) => {
  event.preventDefault();
  window.submitted += 1;
  const banner = document.createElement("p");
  banner.className = "done";
  banner.setAttribute("role", "alert");
  banner.textContent = "Your manuscript has been submitted.";
  form.prepend(banner);
});
form.addEventListener("keydown", (event) => {
  // Enter in a field must not send a long form by accident.
  if (event.key === "Enter" && event.target.matches("input")) event.preventDefault();
});

// ---- the combobox: a select-only one, after the ARIA Authoring Practices
for (const combo of form.querySelectorAll("[role=combobox]")) {
  const list = document.getElementById(combo.getAttribute("aria-controls"));
  const options = [...list.querySelectorAll("[role=option]")];
  let at = -1;
  const point = (next) => {
    at = Math.max(0, Math.min(options.length - 1, next));
    options.forEach((option, place) => option.classList.toggle("at", place === at));
    combo.setAttribute("aria-activedescendant", options[at].id);
  };
  const open = (wanted) => {
    list.hidden = !wanted;
    combo.setAttribute("aria-expanded", String(wanted));
    if (wanted) point(Math.max(0, options.findIndex((option) => option.ariaSelected === "true")));
    else combo.removeAttribute("aria-activedescendant");
  };
  const choose = (option) => {
    options.forEach((other) => other.setAttribute("aria-selected", String(other === option)));
    const shown = combo.querySelector(".shown");
    shown.textContent = option.textContent;
    shown.classList.remove("empty");
    combo.dataset.value = option.dataset.value;
    open(false);
    note(combo.closest(".field"), combo.id, combo.dataset.value);
  };
  combo.addEventListener("click", () => open(list.hidden));
  combo.addEventListener("blur", () => open(false));
  list.addEventListener("mousedown", (event) => event.preventDefault());
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(option);
  });
  combo.addEventListener("keydown", (event) => {
    const { key } = event;
    if (list.hidden) {
      if (["ArrowDown", "ArrowUp", "Enter", " "].includes(key)) { event.preventDefault(); open(true); }
      return;
    }
    if (key === "ArrowDown") point(at + 1);
    else if (key === "ArrowUp") point(at - 1);
    else if (key === "Home") point(0);
    else if (key === "End") point(options.length - 1);
    else if (key === "Enter" || key === " ") choose(options[at]);
    else if (key === "Escape" || key === "Tab") open(false);
    else if (key.length === 1) {
      const found = options.findIndex((option) => option.textContent.toLowerCase().startsWith(key.toLowerCase()));
      if (found >= 0) point(found);
    } else return;
    if (key !== "Tab") event.preventDefault();
  });
}

// ---- a field of its own kind: its input lives in an open shadow root
customElements.define("funding-field", class extends HTMLElement {
  connectedCallback() {
    const root = this.attachShadow({ mode: "open" });
    const sheet = document.createElement("style");
    sheet.textContent = `
      label { display: block; margin: 0 0 4px; font-size: 13px; line-height: 1.3; font-weight: 550; color: #374151; }
      input { box-sizing: border-box; width: 100%; height: 36px; padding: 0 11px; border: 1px solid #c8cfdb; border-radius: 8px; background: #fff; color: inherit; font: inherit; outline: none; }
      input:focus { border-color: #3f51b5; box-shadow: 0 0 0 3px #eceffb; }
      :host([data-good]) input { border-color: #a9d5c0; }
      :host([data-good]) label::after { content: "✓"; margin-left: 6px; color: #1b8a5a; font-weight: 700; }`;
    const label = document.createElement("label");
    const input = document.createElement("input");
    input.id = this.dataset.id;
    input.name = this.dataset.name;
    input.type = "text";
    input.required = true;
    input.autocomplete = "off";
    label.htmlFor = input.id;
    label.textContent = this.dataset.label;
    root.append(sheet, label, input);
    const told = () => {
      this.toggleAttribute("data-good", input.value !== "");
      window.note(input.id, input.value);
    };
    input.addEventListener("input", told);
    input.addEventListener("change", told);
  }
});

// ---- for tests only: a page that silently takes one value back
const taken = form.dataset.takeBack;
if (taken) {
  const control = document.getElementById(taken);
  control.addEventListener("input", () => {
    setTimeout(() => { control.value = ""; note(control.closest(".field"), taken, ""); }, 250);
  });
}
progress();
