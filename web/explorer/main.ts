// Entry point: reads the profile embedded in the page and shows it.

import { App } from "./app.js";
import { readProfile } from "./data.js";
import { el } from "./dom.js";
import { titleOf } from "./title.js";

async function start(): Promise<void> {
  const data = document.getElementById("profile")!;
  const profile = await readProfile(data.textContent!.trim());
  data.remove();
  document.title = profile.title = titleOf(profile);
  const app = new App(profile);
  document.body.replaceChildren(app.element);
  app.render();
  requestAnimationFrame(() => requestAnimationFrame(() => {
    // For the benchmark: milliseconds from the page's start to its first picture.
    document.documentElement.dataset.ready = performance.now().toFixed(0);
  }));
}

start().catch((error) => {
  document.body.replaceChildren(el("p", { class: "nothing" }, `This page cannot be shown: ${error}`));
});
