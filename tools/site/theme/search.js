// Search without a server: a page opened from the disk may load scripts, but not fetch data. So the index is a script,
// search/index.js, which is loaded when it is first needed. Every word of the query must occur in a section, if only as part of a
// longer word; titles count more than text.
"use strict";
(() => {
  const query = document.getElementById("query");
  const results = document.getElementById("results");
  const article = document.querySelector("article");
  const kMost = 40;
  let sections = null, loading = null;

  const loaded = () => loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = siteRoot + "search/index.js";
    script.onload = () => {
      // Entries without an anchor are whole pages, which their sections repeat.
      sections = searchIndex.docs.filter(each => each.location.includes("#")).map(({location, title, text}) => {
        const plain = new DOMParser().parseFromString(text, "text/html").body.textContent;
        return {location, title, text: plain, lower: plain.toLowerCase(), lowerTitle: title.toLowerCase()};
      });
      resolve();
    };
    script.onerror = reject;
    document.head.append(script);
  });

  const count = (text, word) => text.split(word).length - 1;
  const score = (section, words) => {
    let sum = 0;
    for (const word of words) {
      const found = 20 * count(section.lowerTitle, word) + Math.min(10, count(section.lower, word));
      if (!found) return 0;
      sum += found;
    }
    return sum;
  };

  const marked = (text, words) => {
    const pieces = document.createElement("p");
    const pattern = new RegExp("(" + words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "gi");
    text.split(pattern).forEach((piece, index) => {
      if (index % 2) pieces.appendChild(document.createElement("mark")).textContent = piece;
      else pieces.append(piece);
    });
    return pieces;
  };

  const excerpt = (section, words) => {
    const at = Math.max(0, ...words.map(word => section.lower.indexOf(word)).filter(at => at >= 0).slice(0, 1));
    const from = Math.max(0, at - 80);
    return (from ? "… " : "") + section.text.slice(from, from + 240) + (from + 240 < section.text.length ? " …" : "");
  };

  const show = () => {
    const words = query.value.toLowerCase().split(/\s+/).filter(word => word.length > 1);
    results.hidden = !words.length;
    article.hidden = !!words.length;
    if (!words.length) return;
    const found = sections.map(section => ({section, score: score(section, words)})).filter(each => each.score)
      .sort((left, right) => right.score - left.score);
    const heading = document.createElement("h1");
    heading.textContent = found.length ? `${found.length} section${found.length > 1 ? "s" : ""}` : "Nothing found";
    results.replaceChildren(heading);
    for (const {section} of found.slice(0, kMost)) {
      const link = document.createElement("a");
      link.href = siteRoot + section.location;
      link.textContent = section.title;
      link.onclick = () => { query.value = ""; show(); };
      results.appendChild(document.createElement("h3")).append(link);
      results.append(marked(excerpt(section, words), words));
    }
  };

  query.addEventListener("input", () => loaded().then(show));
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== query) { event.preventDefault(); query.focus(); }
    if (event.key === "Escape" && query.value) { query.value = ""; show(); }
  });
})();
