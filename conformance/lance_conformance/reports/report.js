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
// Bytes of the cases: packed into the page, unpacked and laid out when a case is opened.
let unpacked;
const unpack = () => {
  const text = atob(document.getElementById("bytes").textContent);
  const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).json();
};
const put = (parent, tag, text, name = "", title = "") => {
  const made = Object.assign(document.createElement(tag), { className: name, title });
  made.textContent = text;
  parent.append(made);
};
const lineOf = (pre, offset, runs) => {
  put(pre, "u", offset.toString(16).padStart(6, "0"));
  pre.append(" ");
  let text = "";
  for (const [hex, title, shade, patched] of runs) {
    const bytes = hex.match(/../g);
    pre.append(" ");
    put(pre, "span", bytes.join(" "), `${shade < 0 ? "" : `s${shade}`}${patched ? " patched" : ""}`, title);
    for (const byte of bytes.map((two) => parseInt(two, 16))) text += byte > 31 && byte < 127 ? String.fromCharCode(byte) : ".";
  }
  pre.append("   ".repeat(16 - text.length));
  put(pre, "u", `  ${text}`, "text");
  pre.append("\n");
};
const showBytes = async (details) => {
  const pre = details.querySelector?.("pre.hex");
  if (!details.open || !pre || pre.dataset.shown) return;
  pre.dataset.shown = "yes";
  unpacked ??= unpack();
  const [title, start, runs] = (await unpacked)[details.id];
  details.querySelector("h3.bytes").textContent = title;
  let at = start, line = [];
  for (let [hex, ...owner] of runs) {
    while (hex) {
      const room = 2 * (16 - (at % 16)), part = hex.slice(0, room);
      hex = hex.slice(room);
      line.push([part, ...owner]);
      at += part.length / 2;
      if (at % 16 === 0) { lineOf(pre, at - 16, line); line = []; }
    }
  }
  if (line.length) lineOf(pre, at - (at % 16), line);
};
document.addEventListener("toggle", (event) => showBytes(event.target), true);
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) { target.open = true; target.scrollIntoView(); }
};
addEventListener("hashchange", openTarget);
openTarget();
