// Colours of frames, in light and in dark.

import { Kind, Profile } from "./data.js";

export type ColorBy = "kind" | "object" | "function";

export interface Theme {
  dark: boolean;
  background: string;
  text: string;        // on the page
  onFrame: string;     // on a frame
  faint: string;
  line: string;
  accent: string;
  match: string;       // what a search found
}

export function themeOf(root: HTMLElement): Theme {
  const style = getComputedStyle(root);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    dark: read("--is-dark") === "1",
    background: read("--background"), text: read("--text"), onFrame: read("--on-frame"), faint: read("--faint"),
    line: read("--line"), accent: read("--accent"), match: read("--match"),
  };
}

/// The same for the same text, between 0 and 1.
export function hash(text: string): number {
  let h = 2166136261;
  for (let i = 0; i < text.length; ++i) h = Math.imul(h ^ text.charCodeAt(i), 16777619);
  h ^= h >>> 15;
  return ((Math.imul(h, 0x2c1b3c6d) >>> 0) % 4096) / 4096;
}

/// By kind: hue and how far it may vary.
const hueOfKind: Record<Kind, [number, number, number]> = {
  [Kind.user]: [32, 14, 82],
  [Kind.kernel]: [208, 14, 55],
  [Kind.inlined]: [172, 10, 45],
  [Kind.generated]: [110, 16, 45],
  [Kind.task]: [230, 6, 10],
  [Kind.waker]: [285, 12, 38],
};

function hsl(hue: number, saturation: number, lightness: number): string {
  return `hsl(${hue.toFixed(0)} ${saturation.toFixed(0)}% ${lightness.toFixed(0)}%)`;
}

/// By frame.
export function frameColors(profile: Profile, by: ColorBy, dark: boolean): string[] {
  return profile.frameName.map((name, frame) => {
    const object = profile.frameObject[frame];
    const kind = profile.frameKind[frame] as Kind;
    const stray = hash(by === "object" ? object : name);
    const [hue, range, saturation] = hueOfKind[kind] ?? hueOfKind[Kind.user];
    const light = dark ? 34 + 9 * stray : 70 + 10 * stray;
    if (by === "kind" || kind === Kind.task)
      return hsl(hue + range * (2 * stray - 1), dark ? saturation * 0.62 : saturation, light);
    return hsl(360 * stray, dark ? 32 : 58, dark ? 38 : 75);
  });
}

/// The colour that represents a kind in the legend.
export function kindColor(kind: Kind, dark: boolean): string {
  const [hue, , saturation] = hueOfKind[kind] ?? hueOfKind[Kind.user];
  return hsl(hue, dark ? saturation * 0.62 : saturation, dark ? 40 : 73);
}

/// Red for growth, blue for shrinkage; `share`: the change, −1 … 1.
export function changeColor(share: number, dark: boolean): string {
  const strength = Math.min(1, Math.sqrt(Math.abs(share)) * 1.6);
  if (strength < 0.02) return dark ? "hsl(220 4% 32%)" : "hsl(220 10% 90%)";
  const hue = share > 0 ? 4 : 214;
  return dark ? hsl(hue, 15 + 60 * strength, 30 + 14 * strength) : hsl(hue, 30 + 55 * strength, 90 - 30 * strength);
}
