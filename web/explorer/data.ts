// The profile embedded in the page: base64 of a deflated block that src/export/page/page_data.h
// describes. Decoded once, into typed arrays; nothing here knows how it is shown.

declare class DecompressionStream {
  constructor(format: string);
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

export const enum Kind { user, kernel, inlined, generated, task, waker }
export const kindNames = ["user code", "kernel", "inlined", "generated code", "process", "waker"];

export interface EventInfo {
  name: string;
  unit: string;
  columns: number[];   // one; or before and after, if two profiles are compared
  samples: number[];   // by column: number of samples, 0 if only sums are known
}

export interface Thread { pid: number; tid: number; name: string; process: string; }

/// Columns of samples, in time order.
export interface Samples {
  count: number;
  time: Float64Array;    // µs since the first
  node: Uint32Array;
  thread: Uint32Array;
  cpu: Int32Array;       // -1 if not known
  column: Uint16Array;
  value: Float64Array;
  place: Uint32Array;    // instruction among those of all listings, plus one; 0: elsewhere
}

/// What threads did according to the scheduler's events: slices, those of a thread in time order.
export interface Sched {
  thread: Uint32Array;
  start: Float64Array;   // µs since the first sample
  end: Float64Array;
  state: Uint8Array;     // index into stateNames of sched.ts
  cpu: Int32Array;       // -1: not known
  waker: Int32Array;     // thread; -1: not known
  span: [number, number];         // µs: the scheduler's first event and its last
  ended: Map<number, number>;     // by thread: when it exited
  unknown: Unknown[];             // where events are missing
  partial: string;                // why no waits are known; empty: they are
}

/// A time (µs) of which it is not known what a CPU did.
export interface Unknown { cpu: number; start: number; end: number; }

/// Which functions ran: those of a thread by start, then depth.
export interface Calls {
  thread: Uint32Array;
  start: Float64Array;   // µs since the first sample
  end: Float64Array;
  depth: Uint32Array;
  frame: Uint32Array;
  cut: Uint8Array;       // 1: not seen to be entered, or to return
}

/// Nodes are numbered depth first; node 0 stands for everything, and has no frame (-1).
export interface CallTree {
  frame: Int32Array;
  parent: Int32Array;
  end: Uint32Array;      // one past the last node below
}

/// A part of a source file; without lines if the file was not available.
export interface SourcePart { path: string; first: number; lines: string[]; }

/// A function's code.
export interface Listing {
  frame: number;
  name: string;
  cut: boolean;        // only its beginning is included
  start: number;       // index of its first instruction among those of all listings
  address: string[];   // by instruction: offset in the function, hexadecimal
  text: string[];
  file: number[];      // index into sources; -1: not known
  line: number[];
  sources: SourcePart[];
}

export interface Profile {
  title: string;
  facts: [string, string][];
  warnings: string[];
  compared: string[];    // names of the two profiles; empty for one
  events: EventInfo[];
  threads: Thread[];
  frameName: string[];
  frameObject: string[];
  frameFile: string[];
  frameLine: Uint32Array;
  frameKind: Uint8Array;
  tree: CallTree;
  self: Float64Array[];  // by column, by node
  samples: Samples | null;
  sched: Sched | null;
  calls: Calls | null;
  listings: Listing[];
  beginSeconds: number;  // of the first sample, by the recording's clock
}

/// Of CPU time; also for one kind of core of several ("cpu_core/cycles/"), and with modifiers.
const timeEvent = /^(?:\w+\/)?(?:cpu-clock|task-clock|cpu-cycles|cycles|traced-time)(?![\w-])/;

/// The event that a page opens with: the first that tells where CPU time went, if any has samples.
export function usualEvent(profile: Profile): number {
  const found = profile.events.findIndex(({ name, columns }) =>
    timeEvent.test(name) && columns.some((column) => profile.self[column].some((value) => value !== 0)));
  return Math.max(0, found);
}

interface Header {
  title: string;
  facts: [string, string][];
  warnings: string[];
  compared: string[];
  sched_partial: string;
  events: EventInfo[];
  columns: { constant: number | null; real: boolean }[];
  threads: [number, number, number, number][];
  strings: string[];
  begin_ns: string;
  listings: { frame: number; name: string; cut: boolean; code: [number, string, number, number][]; sources: [string, number, string[]][] }[];
  sections: Record<string, [number, number, number]>;  // offset, bytes, count
}

async function inflate(base64: string): Promise<Uint8Array> {
  const text = atob(base64);
  const packed = new Uint8Array(text.length);
  for (let i = 0; i < packed.length; ++i) packed[i] = text.charCodeAt(i);
  const stream = new Blob([packed]).stream() as unknown as ReadableStream<Uint8Array>;
  const inflated = stream.pipeThrough(new DecompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(inflated).arrayBuffer());
}

/// Reads columns by name from the block.
class Sections {
  constructor(private bytes: Uint8Array, private base: number, private header: Header) {}

  has(name: string): boolean { return name in this.header.sections; }
  count(name: string): number { return this.header.sections[name][2]; }

  /// LEB128 numbers, each less than 2^53.
  integers<T extends { [i: number]: number }>(name: string, out: T): T {
    const [offset, , count] = this.header.sections[name];
    const bytes = this.bytes;
    let at = this.base + offset;
    for (let i = 0; i < count; ++i) {
      let byte = bytes[at++];
      let value = byte & 127;
      let scale = 128;
      while (byte > 127) {
        byte = bytes[at++];
        value += (byte & 127) * scale;
        scale *= 128;
      }
      out[i] = value;
    }
    return out;
  }
  reals(name: string, out: Float64Array): Float64Array {
    const [offset, , count] = this.header.sections[name];
    const view = new DataView(this.bytes.buffer, this.bytes.byteOffset + this.base + offset, count * 8);
    for (let i = 0; i < count; ++i) out[i] = view.getFloat64(i * 8, true);
    return out;
  }
  numbers(name: string, real: boolean): Float64Array {
    const out = new Float64Array(this.count(name));
    return real ? this.reals(name, out) : this.integers(name, out);
  }
}

/// The depths of nodes, in depth-first order, determine each node's parent.
function readTree(sections: Sections): CallTree {
  const count = sections.count("node_depth") + 1;
  const depths = sections.integers("node_depth", new Uint32Array(count - 1));
  const frames = sections.integers("node_frame", new Int32Array(count - 1));
  const tree = { frame: new Int32Array(count), parent: new Int32Array(count), end: new Uint32Array(count) };
  tree.frame[0] = -1;
  tree.parent[0] = -1;
  const path = [0];
  for (let i = 1; i < count; ++i) {
    const depth = depths[i - 1] + 1;
    while (path.length > depth) tree.end[path.pop()!] = i;
    tree.frame[i] = frames[i - 1];
    tree.parent[i] = path[path.length - 1];
    path.push(i);
  }
  while (path.length > 0) tree.end[path.pop()!] = count;
  return tree;
}

function readSelf(sections: Sections, column: number, real: boolean, nodes: number): Float64Array {
  const self = new Float64Array(nodes);
  const gaps = sections.numbers(`self${column}_gap`, false);
  const values = sections.numbers(`self${column}_value`, real);
  let node = 0;
  for (let i = 0; i < gaps.length; ++i) {
    node += gaps[i];
    self[node] = values[i];
  }
  return self;
}

function readSamples(sections: Sections, header: Header): Samples | null {
  if (!sections.has("sample_time")) return null;
  const count = sections.count("sample_time");
  const samples: Samples = {
    count,
    time: sections.integers("sample_time", new Float64Array(count)),
    node: sections.integers("sample_node", new Uint32Array(count)),
    thread: sections.integers("sample_thread", new Uint32Array(count)),
    cpu: new Int32Array(count).fill(-1),
    column: new Uint16Array(count),
    value: new Float64Array(count),
    place: new Uint32Array(count),
  };
  for (let i = 1; i < count; ++i) samples.time[i] += samples.time[i - 1];
  if (sections.has("sample_cpu")) {
    sections.integers("sample_cpu", samples.cpu);
    for (let i = 0; i < count; ++i) samples.cpu[i] -= 1;
  }
  if (sections.has("sample_place")) sections.integers("sample_place", samples.place);
  if (sections.has("sample_column")) sections.integers("sample_column", samples.column);
  const listed = header.columns.map((column, i) =>
    column.constant === null ? sections.numbers(`sample_value${i}`, column.real) : null);
  const next = new Uint32Array(listed.length);
  for (let i = 0; i < count; ++i) {
    const column = samples.column[i];
    const values = listed[column];
    samples.value[i] = values ? values[next[column]++] : header.columns[column].constant!;
  }
  return samples;
}

function readSched(sections: Sections, header: Header): Sched | null {
  if (!sections.has("sched_thread")) return null;
  const lanes = sections.count("sched_thread"), count = sections.count("sched_gap");
  const threads = sections.integers("sched_thread", new Uint32Array(lanes));
  const counts = sections.integers("sched_count", new Uint32Array(lanes));
  const gaps = sections.numbers("sched_gap", false), lengths = sections.numbers("sched_length", false);
  const ended = sections.numbers("sched_ended", false), span = sections.numbers("sched_span", false);
  const sched: Sched = {
    thread: new Uint32Array(count), start: new Float64Array(count), end: new Float64Array(count),
    state: sections.integers("sched_state", new Uint8Array(count)),
    cpu: sections.integers("sched_cpu", new Int32Array(count)),
    waker: sections.integers("sched_waker", new Int32Array(count)),
    span: [span[0] / 1000, span[1] / 1000],
    ended: new Map(), unknown: readUnknown(sections), partial: header.sched_partial,
  };
  ended.forEach((at, lane) => { if (at > 0) sched.ended.set(threads[lane], (at - 1) / 1000); });
  let slice = 0;
  for (let lane = 0; lane < lanes; ++lane) {
    let at = 0;  // ns
    for (const end = slice + counts[lane]; slice < end; ++slice) {
      sched.thread[slice] = threads[lane];
      sched.start[slice] = (at += gaps[slice]) / 1000;
      sched.end[slice] = (at += lengths[slice]) / 1000;
      --sched.cpu[slice];
      --sched.waker[slice];
    }
  }
  return sched;
}

function readUnknown(sections: Sections): Unknown[] {
  const cpus = sections.integers("sched_unknown_cpu", new Uint32Array(sections.count("sched_unknown_cpu")));
  const starts = sections.numbers("sched_unknown_start", false), lengths = sections.numbers("sched_unknown_length", false);
  return Array.from(cpus, (cpu, i) => ({ cpu, start: starts[i] / 1000, end: (starts[i] + lengths[i]) / 1000 }));
}

function readCalls(sections: Sections): Calls | null {
  if (!sections.has("call_thread")) return null;
  const lanes = sections.count("call_thread"), count = sections.count("call_gap");
  const threads = sections.integers("call_thread", new Uint32Array(lanes));
  const counts = sections.integers("call_count", new Uint32Array(lanes));
  const gaps = sections.numbers("call_gap", false), lengths = sections.numbers("call_length", false);
  const calls: Calls = {
    thread: new Uint32Array(count), start: new Float64Array(count), end: new Float64Array(count),
    depth: sections.integers("call_depth", new Uint32Array(count)),
    frame: sections.integers("call_frame", new Uint32Array(count)),
    cut: sections.integers("call_cut", new Uint8Array(count)),
  };
  let call = 0;
  for (let lane = 0; lane < lanes; ++lane) {
    let at = 0;  // ns
    for (const end = call + counts[lane]; call < end; ++call) {
      calls.thread[call] = threads[lane];
      calls.start[call] = (at += gaps[call]) / 1000;
      calls.end[call] = (at + lengths[call]) / 1000;
    }
  }
  return calls;
}

function readListings(header: Header): Listing[] {
  let start = 0;
  return header.listings.map(({ frame, name, cut, code, sources }) => {
    const listing = {
      frame, name, cut, start,
      address: code.map(([offset]) => offset.toString(16)),
      text: code.map(([, text]) => text),
      file: code.map(([, , file]) => file),
      line: code.map(([, , , line]) => line),
      sources: sources.map(([path, first, lines]) => ({ path, first, lines })),
    };
    start += code.length;
    return listing;
  });
}

export async function readProfile(base64: string): Promise<Profile> {
  const bytes = await inflate(base64);
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))) as Header;
  const sections = new Sections(bytes, 4 + length, header);
  const frames = sections.count("frame_name");
  const text = (name: string) =>
    Array.from(sections.integers(name, new Uint32Array(frames)), (id) => id === 0 ? "" : header.strings[id - 1]);
  const tree = readTree(sections);
  return {
    title: header.title,
    facts: header.facts,
    warnings: header.warnings,
    compared: header.compared,
    events: header.events,
    threads: header.threads.map(([pid, tid, name, process]) =>
      ({ pid, tid, name: header.strings[name], process: header.strings[process] })),
    frameName: text("frame_name"),
    frameObject: text("frame_object"),
    frameFile: text("frame_file"),
    frameLine: sections.integers("frame_line", new Uint32Array(frames)),
    frameKind: sections.integers("frame_kind", new Uint8Array(frames)),
    tree,
    self: header.columns.map((column, i) => readSelf(sections, i, column.real, tree.frame.length)),
    samples: readSamples(sections, header),
    sched: readSched(sections, header),
    calls: readCalls(sections),
    listings: readListings(header),
    beginSeconds: Number(header.begin_ns) / 1e9,
  };
}
