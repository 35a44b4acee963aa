// Reads what the form holds, for the check at the end; runs on the demo's own channel.
// Also told: what the page noticed by events. A value that only looks filled in is not.
(fields) => {
  const inShadow = (id) =>
    [...document.querySelectorAll("funding-field")].map((host) => host.shadowRoot.getElementById(id)).find(Boolean);
  const read = ({ id, name, control }) => {
    switch (control) {
      case "shadow": return [inShadow(id).value];
      case "frame": return [document.querySelector("iframe").contentDocument.getElementById(id).value];
      case "radio": return [...document.getElementsByName(name)].filter((one) => one.checked).map((one) => one.value);
      case "checkbox": return [document.getElementById(id).checked ? "yes" : "no"];
      case "select": return [...document.getElementById(id).selectedOptions].map((one) => one.value);
      case "combobox": return [document.getElementById(id).dataset.value ?? ""];
      case "rich": return [document.getElementById(id).innerText.trim()];
      default: return [document.getElementById(id).value];
    }
  };
  return {
    submitted: window.submitted,
    fields: fields.map((field) => ({
      held: read(field),
      noticed: window.noticed[field.control === "radio" ? field.name : field.id] ?? null,
    })),
  };
}
