// What the side panel shows, for the timeline. Read only.
(() => {
  const text = (element) => element?.textContent.replace(/\s+/g, " ").trim() ?? "";
  const rows = [...document.querySelectorAll(".tool-row")].map((row) => ({
    tool: row.dataset.tool ?? "",
    label: text(row.querySelector(".tool-label")),
    ok: row.dataset.ok === undefined ? null : row.dataset.ok === "true",
    time: text(row.querySelector(".tool-time")),
    result: text(row.querySelector(".tool-result")),
  }));
  return {
    state: document.querySelector("#state")?.dataset.state ?? "",
    word: text(document.querySelector("#state-text")),
    // Its paragraphs stand apart, so their texts must too.
    notice: [...document.querySelectorAll("#notice:not([hidden]) > *")].map(text).filter(Boolean).join(" · "),
    error: text(document.querySelector(".msg.error p")),
    said: [...document.querySelectorAll(".msg.assistant.narration")].map(text),
    answer: document.querySelector(".msg.assistant:not(.narration)")?.innerText.trim() ?? "",
    rows,
  };
})()
