// Keeps the page up to date by asking for it again, and reloads the report's frame without losing the scroll position.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const pulse = byId("pulse");
  const say = (text, lost) => { pulse.textContent = text; pulse.className = lost ? "pulse lost" : "pulse"; pulse.setAttribute("role", lost ? "alert" : "note"); };
  const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

  const frame = byId("report");
  // A report draws its figures after it was loaded: only then can it be scrolled to where it was.
  const back = async (window_, y) => {
    for (let i = 0; y > 0 && i < 100; i += 1) {
      await sleep(100);
      window_.scrollTo(0, y);
      if (window_.document.documentElement.dataset.drawn && window_.scrollY >= y - 1) return;
    }
  };
  const follow = (version) => {
    if (!frame || !Number(version) || version === frame.dataset.version) return;
    const inner = frame.contentWindow;
    const y = frame.hidden ? 0 : inner.scrollY;
    frame.dataset.version = version;
    frame.hidden = false;
    frame.addEventListener("load", () => back(frame.contentWindow, y), { once: true });
    inner.location.replace(`${frame.dataset.page}?v=${version}${inner.location.hash}`); // replace: no entry in the history
  };

  const refresh = async () => {
    const live = byId("live");
    const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(30000) });
    const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (!answer.ok || !next) throw new Error(`status ${answer.status}`);
    follow(next.dataset.version);
    if (next.innerHTML === live.innerHTML) return;
    const at = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    live.replaceChildren(...next.childNodes);
    const again = at && [...live.querySelectorAll("a")].find((link) => link.getAttribute("href") === at);
    if (again) again.focus({ preventScroll: true });
  };
  const keep = async (every) => {
    for (;;) {
      await sleep(every);
      if (document.hidden) continue;
      try {
        await refresh();
        say("live");
      } catch (error) {
        say("The server does not answer; trying again …", true);
      }
    }
  };
  if (byId("live")) keep(Number(byId("live").dataset.every));

  const box = byId("q");
  if (!box) return;
  const form = byId("ask");
  form.addEventListener("submit", (event) => { if (!event.submitter || !event.submitter.hasAttribute("formaction")) say("running …"); });
  addEventListener("pageshow", () => say(""));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  for (const button of document.querySelectorAll("button.column")) {
    button.addEventListener("click", () => {
      const name = button.dataset.name;
      box.setRangeText(/^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`, box.selectionStart, box.selectionEnd, "end");
      box.focus();
    });
  }
  const find = byId("find");
  const lists = [...document.querySelectorAll("aside details")].map((list) => ({ list, open: list.open }));
  find.hidden = !lists.length;
  find.addEventListener("input", () => {
    const text = find.value.trim().toLowerCase();
    const has = (element) => element.textContent.toLowerCase().includes(text);
    for (const { list, open } of lists) {
      const whole = has(list.querySelector("summary code"));
      const found = [...list.querySelectorAll("li")].filter((item) => { item.hidden = !whole && !has(item); return !item.hidden; });
      list.hidden = !found.length;
      list.open = text ? Boolean(found.length) : open;
    }
    byId("nothing").hidden = lists.some(({ list }) => !list.hidden);
  });
  const copy = byId("copy");
  if (copy && navigator.clipboard) { // browsers offer it on safe connections only
    copy.hidden = false;
    copy.addEventListener("click", async () => { await navigator.clipboard.writeText(byId("link").href); copy.textContent = "copied"; });
  }
})();
