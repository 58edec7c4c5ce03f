// Shows what a box of a heat map stands for below the picture, and lets two clicks select a time range. `map` says where the
// boxes are and which times they cover.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const root = document.currentScript.closest("svg");
  const find = id => root.querySelector("#" + id);
  const hint = find("range").textContent;
  let first = null, second = null;  // numbers of the boxes that were clicked, in time order

  find("cells").addEventListener("mouseover", event => {
    const title = event.target.querySelector("title");
    find("details").textContent = title ? title.textContent : " ";
  });
  find("cells").addEventListener("mouseout", () => { find("details").textContent = " "; });
  if (map.startSecond === null) return;

  // In a map of seconds each box is a time of its own, otherwise each column is.
  const perColumn = map.secondMap ? map.rows : 1;
  const boxNs = map.secondMap ? 1e9 / map.rows : map.stepNs;
  function boxAt(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
    const column = Math.floor((point.x - map.left) / map.boxWidth);
    const row = map.rows - 1 - Math.floor((point.y - map.top) / map.boxHeight);
    if (column < 0 || column >= map.columns || row < 0 || row >= map.rows) return null;
    return column * perColumn + (map.secondMap ? row : 0);
  }
  // The start is split into seconds and the remainder, so that no digit is lost.
  function clock(ns) {
    const rest = Math.round(map.startRest + ns);
    return map.startSecond + Math.floor(rest / 1e9) + "." + String(rest % 1e9).padStart(9, "0");
  }
  function drawBoxes(from, to) {
    let path = "";
    for (let column = Math.floor(from / perColumn); column <= Math.floor(to / perColumn); ++column) {
      const low = Math.max(from - column * perColumn, 0), high = Math.min(to - column * perColumn, perColumn - 1);
      const top = map.secondMap ? map.rows - 1 - high : 0, rows = map.secondMap ? high - low + 1 : map.rows;
      path += `M${map.left + column * map.boxWidth} ${map.top + top * map.boxHeight}h${map.boxWidth}`
        + `v${rows * map.boxHeight}h${-map.boxWidth}z`;
    }
    const element = document.createElementNS(SVG, "path");
    element.setAttribute("d", path);
    find("chosen").replaceChildren(element);
  }
  function choose(box, over) {
    if (box === null) {
      find("chosen").replaceChildren();
      find("range").textContent = hint;
      return;
    }
    const from = Math.min(box, over), to = Math.max(box, over);
    drawBoxes(from, to);
    const range = clock(from * boxNs) + "," + clock((to + 1) * boxNs);
    find("range").textContent = second === null ? "from " + clock(box * boxNs) + " s: click where the range ends"
      : map.before + range + map.behind;
  }
  root.addEventListener("click", event => {
    const box = boxAt(event);
    if (box === null) return;
    if (first === null || second !== null) [first, second] = [box, null]; else second = box;
    choose(first, second === null ? first : second);
  });
  root.addEventListener("mousemove", event => {
    const box = boxAt(event);
    if (first !== null && second === null && box !== null) choose(first, box);
  });
  window.addEventListener("keydown", event => {
    if (event.key !== "Escape") return;
    first = second = null;
    choose(null);
  });
})();
