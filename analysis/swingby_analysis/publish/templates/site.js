"use strict";
const search = document.getElementById("search");
const count = document.getElementById("count");
const entries = [...document.querySelectorAll(".entries li")];
const begun = new URLSearchParams(location.hash.slice(1)).get("search") || "";

function show() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const entry of entries) {
    entry.hidden = !words.every((word) => entry.dataset.words.includes(word));
    shown += entry.hidden ? 0 : 1;
  }
  count.textContent = words.length ? `${shown} of ${entries.length} sweeps` : `${entries.length} ${entries.length === 1 ? "sweep" : "sweeps"}`;
  history.replaceState(null, "", words.length ? `#${new URLSearchParams({ search: search.value })}` : location.pathname + location.search);
}

search.disabled = false;
search.value = begun;
search.addEventListener("input", show);
if (begun) show();
document.documentElement.dataset.drawn = "true";
