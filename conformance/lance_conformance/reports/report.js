// State of the page: what is searched, shown and opened stands in the fragment of its address, as in
// #show=panic&q=L.file.&case=file/2.1/levels/list. A fragment without "=" names a case or a clause.
const read = () => {
  const text = decodeURIComponent(location.hash.slice(1));
  if (text.includes("=")) return new URLSearchParams(location.hash.slice(1));
  return new URLSearchParams(document.getElementById(text)?.matches("details.case") ? { case: text } : {});
};
const write = (changes) => {
  const state = read();
  for (const [key, value] of Object.entries(changes)) value ? state.set(key, value) : state.delete(key);
  const text = state.toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
  history.replaceState(null, "", text ? `#${text}` : location.pathname + location.search);
};
const lists = [...document.querySelectorAll(".tools")].map((tools) => {
  const items = [...document.querySelectorAll(tools.dataset.for)];
  const texts = items.map((item) => `${item.dataset.clauses ?? ""} ${item.textContent}`.toLowerCase());
  const none = document.getElementById(tools.dataset.none);
  const input = tools.querySelector("input"), buttons = [...tools.querySelectorAll("button")];
  const name = tools.dataset.name, keys = name ? [name, `${name}-show`] : ["q", "show"];
  const start = buttons.find((button) => button.value === "unexpected")?.value ?? "all";
  let wanted = start;
  const apply = () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    items.forEach((item, at) => {
      const fits = wanted === "all" || item.dataset.marks.split(" ").includes(wanted);
      item.hidden = !(fits && words.every((word) => texts[at].includes(word)));
      shown += !item.hidden;
    });
    none.hidden = shown > 0;
    for (const button of buttons) button.setAttribute("aria-pressed", button.value === wanted);
    if (!name) showClauses(words.length === 1 ? words[0] : "");
  };
  const keep = () => { apply(); write({ [keys[0]]: input.value, [keys[1]]: wanted === start ? "" : wanted }); };
  input.addEventListener("input", () => { if (!name && input.value && wanted === start) wanted = "all"; keep(); });
  for (const button of buttons) button.addEventListener("click", () => { wanted = button.value; keep(); });
  return {
    tools,
    restore(state, named) {
      input.value = state.get(keys[0]) ?? "";
      wanted = state.get(keys[1]) ?? (input.value ? "all" : start);
      apply();
      if (named?.hidden) { wanted = "all"; input.value = ""; apply(); }
    },
    asked: (state) => state.has(keys[0]) || state.has(keys[1]),
  };
});
// Clauses whose id contains what is searched, those that begin with it first.
function showClauses(word) {
  const found = document.querySelector("ul.found");
  const rows = [...document.querySelectorAll(".clauses tbody tr")].filter((row) => word.length > 1 && row.id.toLowerCase().includes(word));
  rows.sort((one, other) => other.id.toLowerCase().startsWith(word) - one.id.toLowerCase().startsWith(word));
  found.replaceChildren(...rows.slice(0, 6).map((row) => {
    const item = document.createElement("li");
    const link = Object.assign(document.createElement("a"), { href: `#q=${row.id}`, textContent: row.id });
    item.append(link, " ", Object.assign(document.createElement("span"), { className: "soft", textContent: row.querySelector("p")?.textContent ?? "" }));
    return item;
  }));
}
// Body and bytes of the cases: packed into the page, unpacked and laid out when a case is opened.
let unpacked;
const unpack = () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed").textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).json();
};
const put = (parent, tag, text, name = "", title = "") => {
  const made = Object.assign(document.createElement(tag), { className: name, title });
  made.textContent = text;
  parent.append(made);
  return made;
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
const hexOf = (pre, start, runs) => {
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
// Legend: the owners in the order of their bytes; pointing at one marks its bytes.
const legendOf = (list, pre, start, runs) => {
  let at = start, last;
  for (const [hex, title, shade, patched] of runs) {
    const end = at + hex.length / 2;
    if (title && title !== last?.title) {
      const item = put(list, "li", "");
      put(item, "span", "\u00a0\u00a0", `s${shade}${patched ? " patched" : ""}`);
      item.append(` ${at} `);
      put(item, "span", title, "owner");
      for (const [event, on] of [["pointerenter", true], ["pointerleave", false]]) {
        item.addEventListener(event, () => { for (const one of pre.querySelectorAll("span")) one.classList.toggle("lit", on && one.title === title); });
      }
      last = { title, item };
    } else if (patched && last) last.item.firstChild.classList.add("patched");
    at = end;
  }
};
const fill = async (details) => {
  if (!details.matches?.("details.case") || !details.open || details.dataset.filled) return;
  details.dataset.filled = "yes";
  unpacked ??= unpack();
  const [body, bytes] = (await unpacked)[details.id];
  const made = put(details, "div", "", "body");
  made.innerHTML = body;
  if (!bytes) return;
  const [title, start, runs] = bytes;
  put(made, "h3", title, "bytes");
  const view = put(made, "div", "", "view"), pre = put(view, "pre", "", "hex"), list = put(view, "ul", "", "legend");
  hexOf(pre, start, runs);
  legendOf(list, pre, start, runs);
};
document.addEventListener("toggle", (event) => {
  fill(event.target);
  if (!event.target.matches("details.case")) return;
  if (event.target.open) write({ case: event.target.id });
  else if (read().get("case") === event.target.id) write({ case: "" });
}, true);
const restore = () => {
  const state = read(), named = document.getElementById(state.get("case") ?? "");
  for (const list of lists) list.restore(state, list.tools.dataset.name ? null : named);
  if (named instanceof HTMLDetailsElement) { named.open = true; named.scrollIntoView(); }
  else lists.find((list) => list.asked(state))?.tools.scrollIntoView();
};
addEventListener("hashchange", restore);
restore();
