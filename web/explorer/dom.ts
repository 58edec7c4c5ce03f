// Creates elements in one expression. Texts are always text, never markup.

type Child = Node | string;

export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Record<string, string> = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const name of Object.keys(attributes)) element.setAttribute(name, attributes[name]);
  element.append(...children);
  return element;
}

export function button(label: string, title: string, onClick: () => void): HTMLButtonElement {
  const made = el("button", { type: "button", title }, label);
  made.addEventListener("click", onClick);
  return made;
}

/// Whether the page is operated with fingers: there is no keyboard, and nothing that hovers.
export function isTouched(): boolean { return matchMedia("(pointer: coarse)").matches; }

/// Whether the window is as narrow as a phone, as page.css has it.
export function narrowWindow(): MediaQueryList { return matchMedia("(max-width: 760px)"); }

/// Follows a pressed pointer until it is released; or cancelled, by a finger that scrolls.
export function followPointer(move: (event: PointerEvent) => void, up: (event: PointerEvent, isCancelled: boolean) => void): void {
  const end = (event: PointerEvent) => {
    window.removeEventListener("pointermove", move);
    window.removeEventListener("pointerup", end);
    window.removeEventListener("pointercancel", end);
    up(event, event.type === "pointercancel");
  };
  window.addEventListener("pointermove", move);
  window.addEventListener("pointerup", end);
  window.addEventListener("pointercancel", end);
}

/// Makes a canvas as large as its element, in device pixels, with its context scaled to CSS pixels.
export function fit(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w;
    canvas.height = h;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  const context = canvas.getContext("2d")!;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return context;
}

/// Returns a function that calls `draw` in the next animation frame, once, however often it is
/// called until then.
export function oncePerFrame(draw: () => void): () => void {
  let pending = false;
  return () => {
    if (pending) return;
    pending = true;
    requestAnimationFrame(() => {
      pending = false;
      draw();
    });
  };
}

/// The text beside the pointer.
export class Tooltip {
  readonly element = el("div", { class: "tooltip", role: "tooltip" });

  show(lines: string[], x: number, y: number): void {
    this.element.replaceChildren(...lines.map((line, i) => el("div", i === 0 ? { class: "first" } : {}, line)));
    this.element.style.display = "block";
    const { offsetWidth: w, offsetHeight: h } = this.element;
    const left = x + 14 + w > window.innerWidth ? Math.max(4, x - w - 10) : x + 14;
    const top = y + 18 + h > window.innerHeight ? Math.max(4, y - h - 10) : y + 18;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
  }
  hide(): void { this.element.style.display = "none"; }
}
