// Draws the figures of the page, and shows the curves of the point that is pointed at, held by a click, or reached by the
// keyboard. Other scripts of the page find what they need in `window.swingby`:
//   data: a promise of the page's data; attachment(id): of further bytes; library(id): of a packed script that has run;
//   draw(element, spec): of a Vega view; figure(slug): of that of a figure, drawn if it was not; views: those drawn, by slug;
//   show(point, slug): shows the curves of a point; ready: a promise that all that is in sight is drawn; dark: of the page.
// "swingby:point" is sent to the document when a point is shown, with it in `detail.point`.
"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  // The bytes of an element, from base85 and gzip.
  const DIGITS = new Uint8Array(128);
  [..."0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%.()*+-;,=:?@^_`{|}~"].forEach((digit, value) => { DIGITS[digit.charCodeAt(0)] = value; });
  const attachment = async (id) => {
    const text = document.querySelector(`script[id="${CSS.escape(id)}"]`).textContent;
    const length = text.length - Math.ceil(text.length / 5);
    const view = new DataView(new ArrayBuffer(4 * Math.ceil(text.length / 5)));
    for (let at = 0; at < text.length; at += 5) {
      let number = 0;
      for (let i = at; i < at + 5; i++) number = number * 85 + (i < text.length ? DIGITS[text.charCodeAt(i)] : 84);
      view.setUint32(at / 5 * 4, number);
    }
    const bytes = new Uint8Array(view.buffer, 0, length);
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  };
  const textOf = async (id) => new TextDecoder().decode(await attachment(id));
  const libraries = {};
  // The page's policy knows the hash of the text that runs.
  const library = (id) => (libraries[id] ??= textOf(id).then((text) => {
    const script = document.createElement("script");
    script.textContent = text;
    document.head.append(script);
  }));
  const data = textOf("data").then(JSON.parse);

  // Where the page is dark its figures are: ground, text, axes and lines. Marks on coloured tiles, and images, stay.
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const PAPER = "#14191f";
  const LIGHTER = {
    "#1d2733": "#e3e8ee", "#6b7785": "#9aa6b2", "#d9dee4": "#323c47", "#eef1f4": "#262e37", "#222222": "#cfd6dd",
    "#2a6f97": "#5ba3cf", "#7a3fa0": "#b485d6", "#d1495b": "#e8697a", "#2c8c5a": "#4fb583", "#5b4fb3": "#8c80e0",
  };
  const MARKS = ["line", "area", "rule", "text", "trail", "point", "circle", "tick"];
  const lighter = (value) => {
    if (typeof value === "string") return LIGHTER[value.toLowerCase()] ?? value;
    if (Array.isArray(value)) return value.map(lighter);
    if (value === null || typeof value !== "object") return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, key === "data" || key === "datasets" ? one : lighter(one)]));
  };
  const recoloured = (spec, onTiles) => {
    const one = { ...spec };
    const kind = typeof spec.mark === "object" ? spec.mark.type : spec.mark;
    // A dark line over its white casing, and text on tiles, are read as they are; a casing on the ground is the ground's.
    if (MARKS.includes(kind) && !onTiles) {
      one.mark = lighter(spec.mark);
      if (kind === "text" && one.mark.stroke === "white") one.mark = { ...one.mark, stroke: PAPER };
    }
    const tiles = onTiles || (spec.layer ?? []).some((part) => ["rect", "square"].includes(part.mark?.type ?? part.mark));
    if (spec.encoding) {
      one.encoding = Object.fromEntries(Object.entries(spec.encoding).map(([channel, how]) => {
        if (how === null || typeof how !== "object" || Array.isArray(how)) return [channel, how];
        const parts = { ...how };
        for (const name of ["axis", "legend", "header"]) if (parts[name]) parts[name] = lighter(parts[name]);
        if (MARKS.includes(kind) && !onTiles && parts.scale?.range) parts.scale = lighter(parts.scale);
        // The dark end of a scheme is not seen as a line on a dark ground.
        if (MARKS.includes(kind) && !onTiles && typeof parts.scale?.scheme === "string") parts.scale = { ...parts.scale, scheme: { name: parts.scale.scheme, extent: [0.3, 1] } };
        return [channel, parts];
      }));
    }
    for (const name of ["title", "facet"]) if (one[name] && typeof one[name] === "object") one[name] = lighter(one[name]);
    for (const name of ["layer", "hconcat", "vconcat", "concat"]) if (one[name]) one[name] = one[name].map((part) => recoloured(part, tiles));
    if (one.spec) one.spec = recoloured(one.spec, tiles);
    return one;
  };
  const shaded = (spec) => {
    if (!dark) return spec;
    const one = recoloured(spec, false);
    return { ...one, config: { ...lighter(spec.config ?? {}), background: PAPER, title: { color: "#e3e8ee", subtitleColor: "#9aa6b2" } } };
  };
  // ast: expressions are interpreted, so the page's policy needs no eval.
  const options = { mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  const draw = async (element, spec) => {
    await library("vega");
    // vegaEmbed names the element anew, and marks each group of shapes as a picture without a text.
    const label = element.getAttribute("aria-label");
    // The element says what the figure shows, so its marks need no texts of their own, which take time with thousands.
    const { view } = await vegaEmbed(element, shaded({ ...spec, config: { ...spec.config, aria: false } }), options);
    if (label) element.setAttribute("aria-label", label);
    element.querySelector("svg")?.setAttribute("aria-hidden", "true");
    return view;
  };

  // What shows how sure a share is comes with a switch: its layers are left out until then.
  const sure = new Set();
  const plain = (spec) => {
    const inner = spec.spec ? { ...spec, spec: plain(spec.spec) } : { ...spec };
    if (inner.layer) inner.layer = inner.layer.filter(({ name }) => !name?.startsWith("certainty"));
    return inner;
  };
  // Panels side by side as the element has room for, and no wider or higher than that.
  const fitted = (spec, element) => {
    const of = spec.spec ?? spec;
    if (typeof of.width !== "number" || typeof of.height !== "number") return spec;
    const { width, height } = of;
    const one = spec.spec ? 1 : 0;
    const gap = spec.spacing ?? 18;
    const room = (element.parentElement.clientWidth || width) - 78;
    const count = spec.spec ? panels(spec) : 1;
    let columns = Math.max(1, Math.min(spec.columns ?? count, count, Math.floor((room + gap) / (width + gap))));
    if (columns > 1 && count % columns && count % (columns - 1) === 0) columns -= 1;
    const narrow = Math.min(1, room / (columns * (width + gap) - gap));
    let low = 1;
    if (element.closest("section.front") !== null && matchMedia("(min-width: 68rem)").matches) {
      const rows = Math.ceil(count / columns);
      const high = innerHeight - element.getBoundingClientRect().top - scrollY - 150 - rows * (gap + 22 * one);
      low = Math.max(0.55, Math.min(1, high / (rows * height)));
    }
    if (room < 420) spec = { ...spec, config: { ...spec.config, legend: { ...spec.config?.legend, layout: { bottom: { direction: "vertical", anchor: "start" } } } } };
    if (narrow === 1 && low === 1 && columns === (spec.columns ?? columns)) return spec;
    const size = { width: Math.floor(width * narrow), height: Math.floor(height * Math.max(low, 0.55)) };
    return spec.spec ? { ...spec, columns, spec: { ...spec.spec, ...size } } : { ...spec, ...size };
  };
  const panels = (spec) => {
    const field = spec.facet.field;
    if (!field) return 1;
    const rows = spec.data.values ?? spec.datasets?.[spec.data.name] ?? [];
    return new Set(rows.map((row) => row[field])).size;
  };

  // Figures that can be seen are drawn first, then those of closed sections: when they are opened, or when nothing else is to
  // be done, so that a print has them.
  const views = {};
  const drawings = {};
  const elementOf = (slug) => document.querySelector(`[data-figure="${CSS.escape(slug)}"]`);
  const drawn = [];  // what is done with a figure that was drawn
  const figure = (slug) => (drawings[slug] ??= data.then(async ({ figures }) => {
    // Its place stays as high as it was kept.
    const place = elementOf(slug);
    place.style.minHeight = `${place.querySelector("svg.reserved")?.getBoundingClientRect().height ?? 0}px`;
    views[slug] = await draw(elementOf(slug), fitted(sure.has(slug) ? figures[slug] : plain(figures[slug]), elementOf(slug)));
    for (const each of drawn) each(slug);
    return views[slug];
  }));
  for (const box of document.querySelectorAll("[data-certainty]")) {
    box.checked = false;
    box.addEventListener("change", () => {
      const slug = box.dataset.certainty;
      sure[box.checked ? "add" : "delete"](slug);
      delete drawings[slug];
      figure(slug);
    });
  }

  // A figure as a file: light, with its title, at its own size.
  const saved = async (slug, kind) => {
    const { figures, titles } = await data;
    await library("vega");
    const spec = { ...figures[slug], title: { text: titles?.[slug] ?? slug, anchor: "start", fontSize: 15, offset: 14 } };
    const { view } = await vegaEmbed(document.createElement("div"), spec, options);
    const link = document.createElement("a");
    link.download = `${slug}.${kind}`;
    if (kind === "png") link.href = await view.toImageURL("png", 3);
    else link.href = URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }));
    view.finalize();
    link.click();
  };
  for (const line of document.querySelectorAll("[data-save]")) {
    for (const button of line.querySelectorAll("button")) button.addEventListener("click", () => saved(line.dataset.save, button.value));
  }
  const inSight = (element) => element.closest("details:not([open])") === null;
  const drawAll = async () => {
    for (const element of document.querySelectorAll("[data-figure]")) if (inSight(element)) await figure(element.dataset.figure);
  };
  const ready = drawAll();
  document.addEventListener("toggle", () => ready.then(drawAll), true);

  // A link to a place inside a closed section opens it.
  const reveal = () => {
    const target = location.hash.length > 1 ? byId(decodeURIComponent(location.hash.slice(1))) : null;
    if (target === null) return;
    for (let one = target.closest("details"); one !== null; one = one.parentElement.closest("details")) one.open = true;
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // A print has every section, and light figures.
  const DARKER = Object.fromEntries([...Object.entries(LIGHTER).map(([light, of]) => [of, light]), [PAPER, "#ffffff"]]);
  let restored = [];
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details.section:not([open])")) {
      one.open = true;
      restored.push(() => { one.open = false; });
    }
    for (const shape of dark ? document.querySelectorAll(".plot svg [fill], .plot svg [stroke]") : []) {
      for (const name of ["fill", "stroke"]) {
        const colour = shape.getAttribute(name);
        if (!(colour in DARKER)) continue;
        shape.setAttribute(name, DARKER[colour]);
        restored.push(() => shape.setAttribute(name, colour));
      }
    }
  });
  addEventListener("afterprint", () => { for (const restore of restored.splice(0)) restore(); });

  const swingby = { data, attachment, library, draw, figure, views, ready, dark, show: () => undefined };
  window.swingby = swingby;
  const idle = () => new Promise((go) => (window.requestIdleCallback ?? setTimeout)(go));
  const done = async () => {
    document.documentElement.dataset.drawn = "yes";
    for (const element of document.querySelectorAll("[data-figure]")) {
      await idle();
      await figure(element.dataset.figure);
    }
    document.documentElement.dataset.drawn = "all";
  };

  data.then(async ({ figures, panel, grid, points, curves, runs }) => {
    if (!panel) { await ready; return done(); }
    const linked = Object.keys(panel.linked);
    const outlining = linked.filter((slug) => (figures[slug].params ?? []).some(({ name }) => name === "picked"));
    const aside = document.querySelector("aside.curves");
    await figure(panel.figure);
    const losses = await draw(byId("losses"), panel.losses);
    const path = panel.path ? await draw(byId("path"), panel.path) : null;

    // Curves travel as differences of whole numbers: thousandths of a decade or multiples of a unit, and thousandths of an output.
    const sums = (list) => { let at = 0; return list.map((step) => (at += step)); };
    const loss = (list, unit, coarse = 1) => sums(list).map((value) => (unit === null ? 10 ** ((coarse * value) / 1000) : coarse * value * unit));
    const output = (list) => sums(list).map((value) => value / 1000);

    const band = (name, unit, step, [median, low, high]) => {
      const [m, l, h] = [loss(median, unit), loss(low, unit), loss(high, unit)];
      return step.map((at, i) => ({ kind: "band", curve: name, step: at, median: m[i], low: l[i], high: h[i] }));
    };
    // The single runs of a point: each has its steps, then the values of the curves that have single runs.
    const single = ([steps, ...values], seed) => {
      const step = sums(runs.steps[steps]);
      return values.flatMap((list, i) => list === null ? [] : loss(list, panel.units[i], runs.coarseness).map((value, at) => ({ kind: "run", curve: panel.names[i], seed, step: step[at], value })));
    };
    const track = (kind, step, [xs, ys]) => {
      const [x, y] = [output(xs), output(ys)];
      return x.map((value, i) => ({ kind, step: step(i), x: value, y: y[i] }));
    };

    // What a diagram says of a point: the text of the row that its mark was made from.
    const texts = {};
    const wordsOf = (slug, point) => {
      if (slug === panel.figure) return points[point].text;
      if (!(slug in texts)) {
        const rows = [...Object.values(figures[slug].datasets ?? {}).flat(), ...(figures[slug].data?.values ?? [])];
        texts[slug] = new Map(rows.filter((row) => row.text !== undefined).map((row) => [String(row.point), row.counts ?? row.text]));
      }
      const text = texts[slug].get(point);
      return text === undefined ? points[point].text : `${panel.linked[slug]}: ${text}`;
    };

    let shown = null;
    let held = false;
    const show = (point, slug = panel.figure) => {
      if (!(point in points)) return;
      byId("share").textContent = wordsOf(slug, point);
      if (point === shown) return;
      shown = point;
      const curve = curves.of[point];
      // Curves share their steps, or have a list each.
      const stepOf = (i) => sums(curves.steps[Array.isArray(curve.steps) ? curve.steps[i] : curve.steps]);
      const step = curve ? stepOf(0) : [];
      byId("at").textContent = points[point].label;
      byId("note").textContent = curve ? points[point].note : "No curve was recorded at this point.";
      const bands = curve ? panel.names.flatMap((name, i) => band(name, panel.units[i], stepOf(i), curve.losses[i])) : [];
      losses.data("curve", [...bands, ...(runs.of[point] ?? []).flatMap(single)]).run();
      if (path) {
        const has = curve && curve.path;
        const rows = has ? [...track("median", (i) => step[i], curve.path), ...track("mark", (i) => i * curve.every, curve.marks)] : [];
        path.data("path", [...panel.landmarks, ...rows]).run();
      }
      for (const one of outlining) views[one]?.signal("picked", Number(point)).run();
      document.dispatchEvent(new CustomEvent("swingby:point", { detail: { point } }));
      points[point].place.forEach((rank, axis) => { if (selects[axis]) selects[axis].value = String(rank); });
    };

    const pointOf = new Map(Object.entries(points).map(([point, { place }]) => [place.join(), point]));
    const go = (place, slug) => { const point = pointOf.get(place.join()); if (point !== undefined) show(point, slug); return point !== undefined; };

    // One menu a parameter: the same choice without a pointer.
    const selects = grid.map(({ name, values }, axis) => {
      if (values.length < 2) return null;
      const label = document.createElement("label");
      const select = document.createElement("select");
      values.forEach((value, rank) => select.add(new Option(value, String(rank))));
      select.addEventListener("change", () => {
        held = true;
        const place = [...points[shown].place];
        place[axis] = Number(select.value);
        if (!go(place)) select.value = String(points[shown].place[axis]);
      });
      label.append(name, " ", select);
      byId("choose").append(label);
      return select;
  });

    const pointAt = (item) => (item?.datum?.point === undefined || item.datum.point === null ? null : String(item.datum.point));
    // The panel stands beside the figure that is read; where the window is narrow, below it.
    const beside = (slug) => {
      const slot = elementOf(slug).closest(".beside")?.querySelector(".slot");
      if (!slot || slot.contains(aside)) return;
      const left = aside.parentElement;
      const top = elementOf(slug).getBoundingClientRect().top;
      // The place that it leaves keeps its height, so that nothing moves; where that cannot be, the window moves along.
      if (getComputedStyle(left).position !== "static") left.style.minHeight = `${left.offsetHeight}px`;
      slot.append(aside);
      scrollBy({ top: elementOf(slug).getBoundingClientRect().top - top, behavior: "instant" });
    };
    const link = (slug) => {
      if (!linked.includes(slug)) return;
      views[slug].addEventListener("mousemove", (_, item) => { const point = pointAt(item); if (point !== null && !held) { beside(slug); show(point, slug); } });
      views[slug].addEventListener("click", (_, item) => {
        const point = pointAt(item);
        held = point !== null && !(held && point === shown);
        if (point !== null) { beside(slug); show(point, slug); }
      });
        if (outlining.includes(slug) && shown !== null) views[slug].signal("picked", Number(shown)).run();
    };
    drawn.push(link);
    for (const slug of linked) elementOf(slug)?.addEventListener("keydown", (event) => keyed(event, slug));

    const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1], PageUp: [2, -1], PageDown: [2, 1] };
    function keyed(event, slug) {
      if (event.key === "Escape") held = false;
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      held = true;
      beside(slug);
      const place = [...points[shown].place];
      // Past points without a result, up to the border.
      do { place[move[0]] += move[1]; } while (place[move[0]] >= 0 && place[move[0]] < grid[move[0]].values.length && !go(place, slug));
    }
    show(String(panel.first));
    for (const slug of Object.keys(views)) link(slug);
    swingby.show = (point, slug) => show(String(point), slug);
    await ready;
    return done();
  });
})();
