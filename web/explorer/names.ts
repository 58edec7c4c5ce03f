// Names of functions where there is no room for all of them: what template and parameter lists hold is
// left out first, then the middle. The end of a C++ name says more than its beginning.

/// Operators whose spelling has brackets that enclose nothing.
const operators = /operator ?(?:<=>|<<=|>>=|->\*?|<<|>>|[<>]=?|\(\))/y;

/// A template or parameter list: where its contents begin and end, and how deep inside others it is (1: in none).
interface List { from: number; to: number; depth: number; }

interface Brackets { lists: List[]; last: number; }  // last: where the part after the last outer "::" begins

/// Null if brackets do not match.
function bracketsOf(name: string): Brackets | null {
  const open: number[] = [];
  const found: Brackets = { lists: [], last: 0 };
  for (let i = 0; i < name.length; ++i) {
    operators.lastIndex = i;
    if (name[i] === "o" && !/\w/.test(name[i - 1] ?? "") && operators.test(name)) {
      i = operators.lastIndex - 1;
      continue;
    }
    const letter = name[i];
    if ("<({[".includes(letter)) open.push(i);
    else if (letter === ">" && name[i - 1] === "-") continue;
    else if (">)}]".includes(letter)) {
      const start = open.pop();
      if (start === undefined || ">)}]"["<({[".indexOf(name[start])] !== letter) return null;
      if (letter === ">" || letter === ")") found.lists.push({ from: start + 1, to: i, depth: open.length + 1 });
    } else if (letter === ":" && name[i - 1] === ":" && open.length === 0) {
      found.last = i + 1;
    }
  }
  return open.length > 0 ? null : found;
}

/// Without the contents of lists at least this deep. `from`: the part of the name wanted.
function folded(name: string, { lists }: Brackets, depth: number, from: number): string {
  const left = lists.filter((list) => list.depth === depth && list.from >= from && list.to > list.from + 1 &&
                                      name.slice(list.from, list.to) !== "anonymous namespace")
    .sort((a, b) => a.from - b.from);
  let text = "", at = from;
  for (const list of left) {
    text += name.slice(at, list.from) + "…";
    at = list.to;
  }
  return text + name.slice(at);
}

/// Keeps both ends, and of the end at least `end` letters if there is room.
function withoutMiddle(text: string, letters: number, end: number): string {
  const room = letters - 1;
  const tail = end <= room - 1 ? Math.max(end, Math.ceil(room * 0.6)) : Math.ceil(room * 0.6);
  return `${text.slice(0, room - tail)}…${text.slice(text.length - tail)}`;
}

/// For a heading: as much as a window of this width has room for.
export function headingName(name: string): string {
  return shortName(name, Math.max(28, Math.floor(window.innerWidth / 15))).slice(0, 400);
}

const few = 12;  // letters, of which no two ends can be told

/// A name in at most so many letters. Names that are not ASCII are left as they are: their letters
/// have widths of their own.
export function shortName(name: string, letters: number): string {
  if (name.length <= letters || !/^[ -~]*$/.test(name)) return name;
  if (letters < 2) return "";
  const brackets = name.length <= 5000 ? bracketsOf(name) : null;
  if (!brackets) return letters < few ? name.slice(0, letters - 1) + "…" : withoutMiddle(name, letters, 0);
  const deepest = brackets.lists.reduce((most, list) => Math.max(most, list.depth), 0);
  for (let depth = deepest; depth > 0; --depth) {
    const text = folded(name, brackets, depth, 0);
    if (text.length <= letters) return text;
  }
  const last = folded(name, brackets, 1, brackets.last);
  if (letters >= few) return withoutMiddle(folded(name, brackets, 1, 0), letters, last.length);
  if (brackets.last > 0 && last.length < letters) return "…" + last;
  return last.length <= letters ? last : last.slice(0, letters - 1) + "…";
}
