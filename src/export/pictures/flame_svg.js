// The script of a flame graph in a browser. It finds everything in the picture that contains it:
//
//   svg.flames [data-padding data-font-size data-font-width data-fluid data-inverted data-name-type]
//     text.details .matched .reset .search .case
//     g.frames                          a block: zoomed on its own, searched with the others
//       g [data-d data-x data-w]        a frame: depth, start and width in the unit of the profile
//         title, rect, text
//
// The view has three parts, all kept in the URL: the zoomed frame (?b= block, d= depth, x= start), the search (s=) and whether
// it ignores case (i=1).
"use strict";
(() => {
  const svg = document.currentScript.closest("svg");
  const isOwnPage = svg === document.documentElement;
  const settings = svg.dataset;
  const padding = Number(settings.padding);
  const fontSize = Number(settings.fontSize);
  const characterWidth = fontSize * Number(settings.fontWidth);
  const find = name => svg.querySelector("text." + name);
  const [details, matched, resetButton, searchButton, caseButton] =
    ["details", "matched", "reset", "search", "case"].map(find);

  const blocks = [...svg.querySelectorAll("g.frames")].map((group, number) => {
    const block = { number };
    block.frames = [...group.querySelectorAll("g")].map((element, index) => readFrame(element, block, index));
    block.root = block.zoomed = block.frames[0];
    return block;
  });
  const frames = blocks.flatMap(block => block.frames);
  const slack = 1e-9 * blocks[0].root.total;
  const frameOf = new Map(frames.map(frame => [frame.element, frame]));

  let width = Number(svg.getAttribute("width"));
  let pattern = "";
  let ignoresCase = false;
  let current = null; // the frame that has the keyboard focus
  let searchBox = null;

  function readFrame(element, block, index) {
    const { d, x, w } = element.dataset;
    const title = element.querySelector("title").textContent;
    const end = title.lastIndexOf(" (");
    return {
      element, block, index, title,
      name: end < 0 ? title : title.slice(0, end),
      rect: element.querySelector("rect"),
      text: element.querySelector("text"),
      depth: Number(d), start: Number(x), total: Number(w),
    };
  }

  // --- drawing

  // Floating-point sums are inexact.
  const holds = (outer, inner) =>
    outer.start <= inner.start + slack && inner.start + inner.total <= outer.start + outer.total + slack;

  function label(frame, pixels) {
    const room = Math.floor(pixels / characterWidth);
    if (room < 3) return "";
    let columns = 0;
    let kept = "";
    let seen = "";
    for (const letter of frame.name) {
      columns += letter.codePointAt(0) < 0x1000 ? 1 : 2;
      if (columns > room) return kept + "..";
      seen += letter;
      if (columns + 2 <= room) kept = seen;
    }
    return seen;
  }

  // All blocks have the scale of the first one, unless they are zoomed.
  const whole = blocks[0].root.total || 1;

  function draw(block) {
    const zoomed = block.zoomed;
    const scale = (width - 2 * padding) / (zoomed === block.root ? whole : zoomed.total);
    for (const frame of block.frames) {
      const isBelow = frame.depth < zoomed.depth && holds(frame, zoomed);
      const isOn = frame.depth >= zoomed.depth && holds(zoomed, frame);
      frame.element.style.display = isBelow || isOn ? "" : "none";
      if (!isBelow && !isOn) continue;
      const x = isBelow ? padding : padding + (frame.start - zoomed.start) * scale;
      const pixels = (isBelow ? zoomed.total : frame.total) * scale;
      frame.element.style.opacity = isBelow ? 0.5 : "";
      frame.rect.setAttribute("x", x.toFixed(1));
      frame.rect.setAttribute("width", Math.max(pixels, 0).toFixed(1));
      frame.text.setAttribute("x", (x + 3).toFixed(1));
      frame.text.textContent = label(frame, pixels);
    }
  }

  function drawAll() {
    blocks.forEach(draw);
    resetButton.style.display = blocks.some(isZoomed) ? "inline" : "none";
    showMatched();
  }

  /** Adopts the window's width, if the picture is a page of its own and fluid. */
  function fit() {
    if (settings.fluid !== "true" || !isOwnPage) return;
    const height = svg.getAttribute("height");
    const before = width;
    width = Math.max(window.innerWidth, 200);
    svg.setAttribute("width", width);
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    for (const text of svg.querySelectorAll("text.title, text.subtitle")) text.setAttribute("x", width / 2);
    for (const text of svg.querySelectorAll("text.right"))
      text.setAttribute("x", Number(text.getAttribute("x")) + width - before);
  }

  /** Keeps texts and controls inside the window if the picture is taller. */
  function pin() {
    if (!isOwnPage) return;
    const below = Math.max(0, Number(svg.getAttribute("height")) - window.innerHeight - window.scrollY);
    for (const text of [resetButton, searchButton, caseButton])
      text.setAttribute("transform", `translate(0 ${window.scrollY})`);
    for (const text of [details, matched]) text.setAttribute("transform", `translate(0 ${-below})`);
  }

  // --- zoom

  function zoom(frame) {
    frame.block.zoomed = frame;
    drawAll();
    remember();
  }
  function resetZoom() {
    for (const block of blocks) block.zoomed = block.root;
    drawAll();
    remember();
  }
  const isZoomed = block => block.zoomed !== block.root;
  const parentOf = frame =>
    frame.block.frames.slice(0, frame.index).findLast(each => each.depth === frame.depth - 1) || frame;

  // --- search

  function expression() {
    try {
      return pattern === "" ? null : new RegExp(pattern, ignoresCase ? "i" : "");
    } catch (error) {
      details.textContent = `Search: ${error.message}`;
      return null;
    }
  }

  function search(text) {
    pattern = text;
    const wanted = expression();
    for (const frame of frames) {
      frame.matches = wanted !== null && frame.depth > 0 && wanted.test(frame.name);
      frame.rect.classList.toggle("match", frame.matches);
    }
    searchButton.textContent = pattern === "" ? "Search" : "Reset Search";
    showMatched();
    remember();
  }

  /** A match counts once, with everything on top of it. Frames come left to right, each before those on top of it. */
  function matchedIn(within) {
    let sum = 0;
    let counted = -slack;
    for (const frame of within.block.frames) {
      if (!frame.matches || frame.start + slack < counted) continue;
      const start = Math.max(frame.start, within.start);
      const end = Math.min(frame.start + frame.total, within.start + within.total);
      if (end > start) sum += end - start;
      counted = Math.max(counted, frame.start + frame.total);
    }
    return sum;
  }

  function showMatched() {
    if (pattern === "") {
      matched.textContent = " ";
      return;
    }
    const { root, zoomed } = blocks[0];
    const percent = within => (within.total > 0 ? 100 * matchedIn(within) / within.total : 0).toFixed(2) + "%";
    matched.textContent = "Matched: " + percent(root) + (zoomed === root ? "" : `, ${percent(zoomed)} of the zoomed`);
  }

  function setIgnoresCase(value) {
    ignoresCase = value;
    caseButton.classList.toggle("on", value);
    search(pattern);
  }

  /** An input field; its contents are searched for as they change. */
  function openSearch() {
    if (searchBox) return searchBox.firstChild.select();
    const fieldWidth = Math.min(320, width / 2);
    searchBox = document.createElementNS("http://www.w3.org/2000/svg", "foreignObject");
    const place = { x: width - padding - fieldWidth, y: (isOwnPage ? window.scrollY : 0) + 6, width: fieldWidth, height: fontSize * 2 + 4 };
    for (const [name, value] of Object.entries(place)) searchBox.setAttribute(name, value);
    const field = document.createElementNS("http://www.w3.org/1999/xhtml", "input");
    field.placeholder = "regular expression";
    field.value = pattern;
    field.setAttribute("aria-label", "search by regular expression");
    field.addEventListener("input", () => search(field.value));
    field.addEventListener("keydown", event => {
      if (event.key === "Escape") search("");
      if (event.key === "Escape" || event.key === "Enter") closeSearch();
      event.stopPropagation();
    });
    field.addEventListener("blur", closeSearch);
    searchBox.append(field);
    svg.append(searchBox);
    field.focus();
    field.select();
  }
  function closeSearch() {
    const box = searchBox;
    searchBox = null; // first, because removing it blurs it, which closes it
    box?.remove();
  }

  // --- details, keys

  function show(frame) {
    details.textContent = frame ? `${settings.nameType} ${frame.title}` : " ";
  }

  function moveTo(frame) {
    if (!frame) return;
    current?.rect.classList.remove("current");
    current = frame;
    current.rect.classList.add("current");
    show(frame);
    frame.element.scrollIntoView?.({ block: "nearest" });
  }

  const isShown = frame => frame.element.style.display !== "none";

  /** The frame one step from the current one: "out" to its caller, "in" to its widest child, or to a sibling. */
  function neighbour(direction) {
    const from = current && isShown(current) ? current : blocks[0].zoomed;
    if (!current) return from;
    const level = depth => from.block.frames.filter(each => each.depth === depth && isShown(each));
    if (direction === "out") return parentOf(from);
    if (direction === "in")
      return level(from.depth + 1).filter(each => holds(from, each)).sort((a, b) => b.total - a.total)[0];
    const row = level(from.depth);
    return row[row.indexOf(from) + (direction === "left" ? -1 : 1)];
  }

  const upwards = settings.inverted === "true" ? "out" : "in";
  const downwards = settings.inverted === "true" ? "in" : "out";
  const keys = {
    "/": openSearch,
    i: () => setIgnoresCase(!ignoresCase),
    Escape: () => pattern !== "" ? search("") : resetZoom(),
    Home: resetZoom,
    Enter: () => current && zoom(current),
    Backspace: () => zoom(parentOf((blocks.find(isZoomed) || blocks[0]).zoomed)),
    ArrowUp: () => moveTo(neighbour(upwards)),
    ArrowDown: () => moveTo(neighbour(downwards)),
    ArrowLeft: () => moveTo(neighbour("left")),
    ArrowRight: () => moveTo(neighbour("right")),
  };

  window.addEventListener("keydown", event => {
    if (event.altKey || event.metaKey) return;
    const isFind = event.ctrlKey && event.key === "f";
    const action = isFind ? openSearch : event.ctrlKey ? null : keys[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });

  const frameAt = event => frameOf.get(event.target.closest?.("g.frames g"));
  svg.addEventListener("mouseover", event => {
    const frame = frameAt(event);
    if (frame) show(frame);
  });
  svg.addEventListener("mouseout", event => frameAt(event) && show(current));
  svg.addEventListener("click", event => {
    const frame = frameAt(event);
    // A click on a frame with a link follows it; with a modifier, it zooms.
    const isLink = event.target.closest?.("a") && !event.ctrlKey && !event.shiftKey;
    if (!frame || isLink) return;
    event.preventDefault();
    zoom(frame);
  });
  resetButton.addEventListener("click", resetZoom);
  searchButton.addEventListener("click", () => pattern === "" ? openSearch() : search(""));
  caseButton.addEventListener("click", () => setIgnoresCase(!ignoresCase));
  window.addEventListener("scroll", pin);
  window.addEventListener("resize", () => {
    fit();
    drawAll();
    pin();
  });

  // --- the address

  function remember() {
    const query = new URLSearchParams();
    const block = blocks.find(isZoomed);
    if (block) {
      if (block.number > 0) query.set("b", block.number);
      query.set("d", block.zoomed.depth);
      query.set("x", block.zoomed.start);
    }
    if (pattern !== "") query.set("s", pattern);
    if (ignoresCase) query.set("i", "1");
    try {
      const text = query.toString();
      history.replaceState(null, "", text ? "?" + text : location.pathname);
    } catch {
      // Inside another page, the URL is not this picture's.
    }
  }

  function restore() {
    const query = new URLSearchParams(location.search);
    const block = blocks[Number(query.get("b") || 0)];
    if (block && query.has("d"))
      block.zoomed = block.frames.find(frame =>
        frame.depth === Number(query.get("d")) && frame.start === Number(query.get("x"))) || block.root;
    ignoresCase = query.get("i") === "1";
    caseButton.classList.toggle("on", ignoresCase);
    if (query.get("s")) search(query.get("s"));
  }

  const style = document.createElementNS("http://www.w3.org/2000/svg", "style");
  style.textContent = `
    .flames { --behind: #eee; }
    @media (prefers-color-scheme: dark) { .flames[data-dark] { --behind: #222; } }
    .flames .search, .flames .case { display: inline; }
    .flames .control { opacity: 0.8; }
    .flames .control, .flames .frames g { cursor: pointer; }
    .flames .control, .flames .details, .flames .matched {
      paint-order: stroke; stroke: var(--behind); stroke-width: 5px; stroke-linejoin: round;
    }
    .flames .control:hover, .flames .case.on { opacity: 1; font-weight: bold; }
    .flames .frames g:hover rect, .flames rect.current { stroke: #000; stroke-width: 1; }
    .flames rect.match { fill: rgb(230,0,230); }
    .flames input { box-sizing: border-box; width: 100%; font: ${fontSize}px sans-serif; padding: 3px; }`;
  // After the frames in the file, so they are drawn on top.
  svg.append(style, details, matched, resetButton, searchButton, caseButton);
  fit();
  if (isOwnPage) restore();
  drawAll();
  // Scroll to the root first.
  if (isOwnPage && settings.inverted !== "true")
    window.scrollTo(0, blocks[0].root.rect.getBoundingClientRect().bottom + 3 * fontSize - window.innerHeight);
  pin();
})();
