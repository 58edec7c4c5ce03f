// Zooming and panning in a timeline, and details of what is under the pointer. `timeline` is the output of write_timeline_json;
// `layout` says where the lanes are. Times are nanoseconds from timeline.start_ns.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const root = document.currentScript.closest("svg");
  const find = id => root.querySelector("#" + id);
  const total = Math.max(1, layout.total);
  const hasCalls = timeline.subject === "calls";
  const shortest = Math.min(total, hasCalls ? 10 : 1000);
  let shown = {from: 0, to: total};
  let pinned = false;

  // What is not known of CPUs, by number.
  const unknownOf = new Map();
  for (const span of timeline.unknown || []) {
    if (!unknownOf.has(span[2])) unknownOf.set(span[2], []);
    unknownOf.get(span[2]).push(span);
  }

  // The lanes of the picture.
  const lanes = [...root.querySelectorAll(".lane")].map(group => {
    const isCpu = group.id[0] === "c", index = Number(group.id.slice(1));
    const what = isCpu ? timeline.cpus[index] : timeline.threads[index];
    const rows = hasCalls ? callRows(what.slices) : [];
    return {
      group, isCpu, what, index, y: group.transform.baseVal[0].matrix.f, rows,
      height: isCpu ? layout.cpuHeight : Math.max(layout.threadHeight, rows.length * layout.callRow),
      kinds: isCpu ? layout.cpuKinds : layout.threadKinds,
      slices: isCpu ? what.runs : what.slices,
      whole: group.innerHTML,
      kindOf: isCpu ? slice => layout.colors[slice[2]] : slice => slice[2],
      idles: what.idles || [], frequencies: what.frequencies || [],
      unknown: isCpu && unknownOf.get(what.cpu) || [],
    };
  });

  /// Calls by depth: those of a row follow each other.
  function callRows(calls) {
    const rows = [];
    for (const call of calls) (rows[call[2]] ||= []).push(call);
    for (let i = 0; i < rows.length; ++i) rows[i] ||= [];
    return rows;
  }

  const number = value => {
    const text = value.toPrecision(3);
    return text.includes("e") ? String(Math.round(value)) : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
  };
  const timeText = ns => ns === 0 ? "0" : Math.abs(ns) < 999.5 ? number(ns) + " ns" : Math.abs(ns) < 999.5e3 ? number(ns / 1e3) + " µs"
    : Math.abs(ns) < 999.5e6 ? number(ns / 1e6) + " ms" : number(ns / 1e9) + " s";
  // Clock time in the form that other commands print and accept. The start comes in two parts, so that no digit is lost.
  const clock = (at, digits = 6) => {
    const rest = layout.startRest + at, seconds = layout.startSeconds + Math.floor(rest / 1e9);
    return seconds + "." + String(Math.floor(rest % 1e9)).padStart(9, "0").slice(0, digits);
  };
  const toPixel = at => (at - shown.from) / (shown.to - shown.from) * layout.width;
  const toTime = x => shown.from + (x - layout.left) / layout.width * (shown.to - shown.from);

  /// Index of the first slice that ends after `at`.
  function firstBehind(slices, at) {
    let low = 0, high = slices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (slices[middle][0] + slices[middle][1] <= at) low = middle + 1; else high = middle;
    }
    return low;
  }

  /// Like LanePainter: each pixel shows each kind by its share of the pixel's time.
  function lanePaths(lane) {
    if (hasCalls) return lane.rows.map((_, row) => callPaths(lane, row)).join("");
    const shares = lane.kinds.map(() => null);
    addShares(shares, lane.slices, lane.kindOf);
    addShares(shares, lane.unknown, () => layout.cpuKinds.length - layout.sleepKinds - 1);
    addShares(shares, lane.idles, idleKind);
    return pathsOf(lane, shares) + frequencyPath(lane);
  }
  const isNarrow = call => call[1] / (shown.to - shown.from) * layout.width < 3;
  function callsShown(lane, row) {
    const calls = lane.rows[row], shownCalls = [];
    for (let i = firstBehind(calls, shown.from); i < calls.length && calls[i][0] <= shown.to; ++i) shownCalls.push(calls[i]);
    return shownCalls;
  }
  const callColor = call => layout.callColors[call[3]];
  function callPaths(lane, row) {
    const top = row * layout.callRow, height = layout.callRow - 1, calls = callsShown(lane, row);
    const kinds = layout.cpuKinds.map(([name]) => [name, top, height]), shares = kinds.map(() => null);
    addShares(shares, calls.filter(isNarrow), callColor);
    let text = pathsOf({kinds}, shares);
    for (const call of calls) {
      if (isNarrow(call)) continue;
      const x = Math.max(0, toPixel(call[0])), width = Math.min(layout.width, toPixel(call[0] + call[1])) - x - 0.5;
      text += `<path xmlns="${SVG}" class="p${callColor(call)}" d="M${x.toFixed(1)} ${top}h${width.toFixed(1)}v${height}h${(-width).toFixed(1)}z"/>`;
    }
    return text;
  }
  function addCallNames(lane) {
    if (layout.callRow < 14) return;
    lane.rows.forEach((_, row) => {
      for (const call of callsShown(lane, row)) {
        const x = Math.max(0, toPixel(call[0])), room = Math.min(layout.width, toPixel(call[0] + call[1])) - x;
        if (room >= 30) addName(lane, x, (row + 1) * layout.callRow - 5, timeline.functions[call[3]][0], room);
      }
    });
  }
  function addName(lane, x, y, name, room) {
    const fits = Math.floor((room - 8) / 6.6);
    const text = name.length <= fits ? name : fits < 3 ? "" : name.slice(0, fits - 2) + "..";
    if (text) addText(lane.group, x + 4, y, text, {class: "run"});
  }
  const idleKind = slice => layout.cpuKinds.length - layout.sleepKinds + Math.min(Math.max(slice[2], 1), layout.sleepKinds) - 1;
  function addShares(shares, slices, kindOf) {
    const width = layout.width, perPixel = (shown.to - shown.from) / width;
    for (let i = firstBehind(slices, shown.from); i < slices.length && slices[i][0] <= shown.to; ++i) {
      const slice = slices[i], kind = kindOf(slice);
      const of = shares[kind] ||= new Float32Array(width);
      const from = Math.max(0, (slice[0] - shown.from) / perPixel);
      const to = Math.max(Math.min(width, (slice[0] + slice[1] - shown.from) / perPixel), from + 1e-6);
      const first = Math.min(Math.floor(from), width - 1), last = Math.min(Math.floor(to), width - 1);
      if (first === last) { of[first] += to - from; continue; }
      of[first] += first + 1 - from;
      for (let pixel = first + 1; pixel < last; ++pixel) of[pixel] += 1;
      of[last] += to - last;
    }
  }
  function frequencyPath(lane) {
    let path = "";
    lane.frequencies.forEach(([at, khz], i) => {
      const next = lane.frequencies[i + 1];
      if ((next && next[0] < shown.from) || at > shown.to) return;
      const y = (lane.height - 1 - (lane.height - 2) * khz / layout.highestKhz).toFixed(1);
      const x = Math.max(0, toPixel(at)).toFixed(1);
      path += path ? `H${x}V${y}` : `M${x} ${y}`;
    });
    return path && `<path xmlns="${SVG}" class="freq" d="${path}H${layout.width}"/>`;
  }
  function pathsOf(lane, shares) {
    const width = layout.width;
    let text = "";
    shares.forEach((of, kind) => {
      if (!of) return;
      const [name, top, height] = lane.kinds[kind], paths = ["", "", "", "", ""];
      const strength = pixel => of[pixel] <= 0 ? 0 : Math.min(4, Math.max(1, Math.round(of[pixel] * 4)));
      for (let pixel = 0; pixel < width;) {
        const here = strength(pixel);
        let end = pixel + 1;
        while (end < width && strength(end) === here) ++end;
        if (here) paths[here] += `M${pixel} ${top}h${end - pixel}v${height}h${pixel - end}z`;
        pixel = end;
      }
      paths.forEach((d, o) => { if (d) text += `<path xmlns="${SVG}" class="${name} o${o}" d="${d}"/>`; });
    });
    return text;
  }

  function addText(parent, x, y, text, attributes = {}) {
    const element = document.createElementNS(SVG, "text");
    element.setAttribute("x", x);
    element.setAttribute("y", y);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    element.textContent = text;
    parent.append(element);
    return element;
  }

  function addRunNames(lane) {
    if (lane.height < 16) return;
    for (let i = firstBehind(lane.slices, shown.from); i < lane.slices.length && lane.slices[i][0] <= shown.to; ++i) {
      const [start, length, thread] = lane.slices[i];
      const x = Math.max(0, toPixel(start)), room = Math.min(layout.width, toPixel(start + length)) - x;
      if (room < 40) continue;
      addName(lane, x, lane.height / 2 + 4, timeline.threads[thread].name, room);
    }
  }

  function drawAxis() {
    const axis = find("axis"), span = shown.to - shown.from, most = Math.floor(layout.width / 90);
    axis.replaceChildren();
    let step = 10 ** Math.floor(Math.log10(span / most));
    step *= [1, 2, 5, 10].find(factor => span <= step * factor * most) || 20;
    for (let tick = Math.ceil(shown.from / step - 1e-9) * step; tick <= shown.to + step * 1e-9; tick += step) {
      const x = layout.left + toPixel(tick);
      const line = document.createElementNS(SVG, "path");
      line.setAttribute("class", "grid");
      line.setAttribute("d", `M${x.toFixed(1)} ${layout.axis}V${layout.end}`);
      axis.append(line);
      // Adjacent labels must differ: as many digits as the step needs.
      const [unit, name] = shown.to < 1e3 ? [1, "ns"] : shown.to < 1e6 ? [1e3, "µs"] : shown.to < 1e9 ? [1e6, "ms"] : [1e9, "s"];
      const digits = Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9));
      addText(axis, x, layout.axis - 6, (tick / unit).toFixed(digits) + " " + name, {class: "soft", "text-anchor": "middle"});
    }
  }

  function draw() {
    const whole = shown.from === 0 && shown.to === total;
    for (const lane of lanes) {
      lane.group.innerHTML = whole ? lane.whole : lanePaths(lane);
      if (whole) continue;
      if (lane.isCpu) addRunNames(lane);
      else if (hasCalls) addCallNames(lane);
    }
    drawAxis();
    find("reset").setAttribute("visibility", whole ? "hidden" : "visible");
    const range = clock(shown.from, 9) + "," + clock(shown.to, 9);
    find("shown").textContent = whole ? "" : `shown: ${timeText(shown.to - shown.from)}, --time ${range}`;
    const state = whole ? location.pathname + location.search : "#time=" + Math.round(shown.from) + "," + Math.round(shown.to);
    try { history.replaceState(null, "", state); } catch { /* inside another page */ }
  }

  function show(from, to) {
    const span = Math.min(total, Math.max(shortest, to - from));
    from = Math.max(0, Math.min(total - span, from));
    shown = {from, to: from + span};
    unpin();
    draw();
  }
  const zoom = (factor, at) => show(at - (at - shown.from) * factor, at + (shown.to - at) * factor);
  const move = share => show(shown.from + (shown.to - shown.from) * share, shown.to + (shown.to - shown.from) * share);

  // Details of what is under the pointer.

  function sliceAt(lane, at, y) {
    if (hasCalls) return nearest(lane.rows[Math.floor((y - lane.y) / layout.callRow)] || [], at);
    return nearest(lane.slices, at) || nearest(lane.idles, at);
  }
  function nearest(slices, at) {
    const near = (shown.to - shown.from) / layout.width * 1.5;
    const first = firstBehind(slices, at - near);
    let best = null, distance = Infinity;
    for (let i = first; i < slices.length && slices[i][0] <= at + near; ++i) {
      const [start, length] = slices[i];
      const away = at < start ? start - at : at > start + length ? at - start - length : 0;
      if (away < distance) [best, distance] = [slices[i], away];
    }
    return best;
  }
  const threadName = index => timeline.threads[index].name + " (" + timeline.threads[index].tid + ")";
  const clip = text => text.length > 110 ? text.slice(0, 108) + ".." : text;

  function stackLines(title, index) {
    if (index < 0) return [];
    const frames = timeline.stacks[index].split(";").reverse(), most = 16;
    const lines = [title, ...frames.slice(0, most).map(frame => "   " + frame)];
    if (frames.length > most) lines.push(`   … ${frames.length - most} more`);
    return lines;
  }
  function describe(lane, slice) {
    const [start, length] = slice;
    const from = `${timeText(length)} from ${clock(start)} s (+${timeText(start)})`;
    if (lane.idles.includes(slice)) return [`CPU ${lane.what.cpu}: asleep, C${slice[2]}`, from];
    const when = from + (slice[slice.length - 1] ? ", cut off" : "");
    if (lane.isCpu) {
      const thread = timeline.threads[slice[2]];
      const of = thread.pid && thread.pid !== thread.tid ? [`of ${thread.process} (${thread.pid})`] : [];
      return [`CPU ${lane.what.cpu}: ${threadName(slice[2])}`, when, ...of];
    }
    if (hasCalls) return describeCall(lane, slice, from);
    if (timeline.subject === "io") return describeIo(lane, slice, when);
    const [, , state, cpu, waker, stack, wakerStack] = slice;
    const where = cpu < 0 ? "" : state === 0 || state === 5 ? ` on CPU ${cpu}` : `, was on CPU ${cpu}`;
    const lines = [`${threadName(lane.index)}: ${timeline.states[state] || timeline.states[0]}${where}`, when];
    if (waker >= 0) lines.push(`woken by ${threadName(waker)}`);
    return [...lines, ...stackLines("it left the CPU in", stack), ...stackLines("its waker was in", wakerStack)];
  }

  /// Why a lane shows nothing at a time; null for a CPU that was idle, and where there are no states.
  function describeBlank(lane, at) {
    if (timeline.subject) return null;
    const isIn = ([start, length]) => at >= start && at <= start + length;
    if (lane.isCpu) {
      const span = lane.unknown.find(isIn);
      return span ? [`CPU ${lane.what.cpu}: not known`, `${timeText(span[1])} from ${clock(span[0])} s`, "events are missing here"] : null;
    }
    const name = threadName(lane.index), {ended, slices} = lane.what, first = slices[0], last = slices[slices.length - 1];
    if (ended >= 0 && at >= ended) return [`${name}: had ended`];
    const reason = timeline.partial || (timeline.unknown.some(isIn) ? "events are missing here"
      : at < first[0] ? "nothing was recorded of it before" : at > last[0] + last[1] ? "nothing was recorded of it any more"
        : "events of it are missing");
    return [`${name}: not known`, reason];
  }

  function describeCall(lane, [start, length, depth, index, isCut], when) {
    const [name, object] = timeline.functions[index], lines = [name, when + (isCut ? ", entered or left unseen" : ""), object];
    const most = 16;
    for (let row = depth - 1; row >= Math.max(0, depth - most); --row) {
      const around = lane.rows[row].find(call => call[0] <= start && call[0] + call[1] >= start + length);
      if (around) lines.push((row === depth - 1 ? "called by " : "   ") + timeline.functions[around[3]][0]);
    }
    if (depth > most) lines.push(`   … ${depth - most} more`);
    return lines;
  }

  function describeIo(lane, [, , kind, fd, error, bytes, calls], when) {
    const what = [calls > 1 ? calls + " calls" : "", fd >= 0 ? "descriptor " + fd : "", bytes ? bytes + " bytes" : "",
      error ? "errno " + error : ""].filter(part => part);
    return [`${threadName(lane.index)}: ${timeline.states[kind]}`, when, ...(what.length ? [what.join(", ")] : [])];
  }

  function showTip(lines, x, y) {
    const tip = find("tip");
    tip.replaceChildren();
    if (!lines) return;
    const box = document.createElementNS(SVG, "rect");
    tip.append(box);
    let widest = 0;
    lines.forEach((line, i) => {
      const text = addText(tip, 10, 18 + i * 15, clip(line), i === 0 ? {class: "first"} : {});
      text.setAttribute("xml:space", "preserve");
      widest = Math.max(widest, text.getComputedTextLength());
    });
    const width = widest + 20, height = lines.length * 15 + 12;
    box.setAttribute("width", width);
    box.setAttribute("height", height);
    box.setAttribute("rx", 4);
    const left = Math.max(4, Math.min(x + 14, layout.left + layout.width + 10 - width));
    const top = y + 16 + height > layout.height ? Math.max(4, y - height - 10) : y + 16;
    tip.setAttribute("transform", `translate(${left},${top})`);
  }
  function unpin() {
    pinned = false;
    showTip(null);
  }

  // The pointer.

  function place(event) {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(root.getScreenCTM().inverse());
    return [point.x, point.y];
  }
  const inLanes = (x, y) => x >= layout.left && x <= layout.left + layout.width && y >= layout.axis - 20 && y <= layout.end;
  let drag = null;

  root.addEventListener("mousedown", event => {
    const [x, y] = place(event);
    if (event.button !== 0 || !inLanes(x, y)) return;
    drag = {x, from: shown.from, to: shown.to, moves: event.shiftKey, far: false};
    event.preventDefault();
  });
  root.addEventListener("mousemove", event => {
    const [x, y] = place(event);
    if (drag) return dragTo(x);
    if (pinned) return;
    const lane = inLanes(x, y) && lanes.find(each => y >= each.y && y < each.y + each.height);
    const slice = lane && sliceAt(lane, toTime(x), y);
    showTip(slice ? describe(lane, slice) : lane ? describeBlank(lane, toTime(x)) : null, x, y);
  });
  function dragTo(x) {
    x = Math.max(layout.left, Math.min(layout.left + layout.width, x));
    drag.far ||= Math.abs(x - drag.x) > 3;
    if (!drag.far) return;
    if (drag.moves) {
      const by = (drag.x - x) / layout.width * (drag.to - drag.from);
      return show(drag.from + by, drag.to + by);
    }
    drag.end = x;
    unpin();
    const area = document.createElementNS(SVG, "rect");
    const values = {x: Math.min(drag.x, x), y: layout.axis, width: Math.abs(x - drag.x), height: layout.end - layout.axis};
    for (const name in values) area.setAttribute(name, values[name]);
    find("selection").replaceChildren(area);
  }
  window.addEventListener("mouseup", () => {
    if (!drag) return;
    const done = drag;
    drag = null;
    find("selection").replaceChildren();
    if (!done.far) { pinned = !pinned; return; }
    if (!done.moves) show(toTime(Math.min(done.x, done.end)), toTime(Math.max(done.x, done.end)));
  });
  root.addEventListener("mouseleave", () => { if (!pinned) showTip(null); });
  root.addEventListener("dblclick", event => {
    if (inLanes(...place(event))) show(0, total);
  });
  root.addEventListener("wheel", event => {
    const [x, y] = place(event);
    // If the picture is taller than the window, the wheel scrolls it unless a modifier key asks for zoom.
    const scrolls = document.documentElement.getBoundingClientRect().height > innerHeight + 1;
    if (!inLanes(x, y) || (scrolls && !event.ctrlKey && !event.shiftKey)) return;
    event.preventDefault();
    zoom((event.deltaY || event.deltaX) > 0 ? 1.25 : 0.8, toTime(x));
  }, {passive: false});
  find("reset").addEventListener("click", () => show(0, total));

  window.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const middle = (shown.from + shown.to) / 2;
    const actions = {"+": () => zoom(0.5, middle), "=": () => zoom(0.5, middle), "-": () => zoom(2, middle),
      ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), "0": () => show(0, total), Home: () => show(0, total), Escape: unpin};
    if (!actions[event.key]) return;
    actions[event.key]();
    event.preventDefault();
  });

  const state = /^#time=(\d+),(\d+)$/.exec(location.hash);
  if (state) show(Number(state[1]), Number(state[2]));
})();
