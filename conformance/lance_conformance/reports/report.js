// Filtering of the two lists, and links to a single case.
for (const tools of document.querySelectorAll(".tools")) {
  const items = [...document.querySelectorAll(tools.dataset.for)];
  const none = document.getElementById(tools.dataset.none);
  const input = tools.querySelector("input");
  const buttons = [...tools.querySelectorAll("button")];
  let wanted = "all";
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits = wanted === "all" || item.dataset.marks.split(" ").includes(wanted);
      item.hidden = !(fits && words.every((word) => item.dataset.text.includes(word)));
      shown += !item.hidden;
    }
    none.hidden = shown > 0;
    for (const button of buttons) button.setAttribute("aria-pressed", button.value === wanted);
  };
  input.addEventListener("input", apply);
  for (const button of buttons) {
    button.addEventListener("click", () => { wanted = button.value; apply(); });
  }
  document.addEventListener("show-clause", (event) => {
    if (tools.dataset.for !== "details.case") return;
    wanted = "all";
    input.value = event.detail;
    apply();
    tools.scrollIntoView({ block: "start" });
  });
  apply();
}
for (const link of document.querySelectorAll("a.to-cases")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    document.dispatchEvent(new CustomEvent("show-clause", { detail: link.dataset.clause }));
  });
}
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", openTarget);
openTarget();
