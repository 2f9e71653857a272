// The reader's own diagram over every run of the page: axes, panels and colour by choice, a threshold to move, a region whose
// curves are shown. What is chosen stands in the link (`#x=...&y=...`), by `swingby.link`, which the box for SQL uses, too.
// The columns lie in the attachment "rows", an Arrow stream, at the places that `data.explore.columns` states.
"use strict";
(() => {
  const swingby = window.swingby;
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const save = (name, content, type) => {
    const address = typeof content === "string" && content.startsWith("data:") ? content : URL.createObjectURL(new Blob([content], { type }));
    make("a", { href: address, download: name }).click();
    if (address !== content) setTimeout(() => URL.revokeObjectURL(address), 60000);
  };
  // A button that puts the address of the page as it is now on the clipboard; browsers offer that on some pages only.
  const copier = () => make("button", { type: "button", textContent: "Copy link", onclick: async (event) => {
    const text = location.href;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const field = make("textarea", { value: text });
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
    event.target.textContent = "Copied";
    setTimeout(() => { event.target.textContent = "Copy link"; }, 1500);
  } });
  const parameters = () => new URLSearchParams(location.hash.includes("=") ? location.hash.slice(1) : "");
  const link = {
    read: (name) => parameters().get(name),
    // New values of some names, null to take one away; a new entry of the history unless `push` is false.
    write: (values, push = true) => {
      const all = parameters();
      for (const [name, value] of Object.entries(values)) if (value === null) all.delete(name); else all.set(name, value);
      if (String(all) === String(parameters())) return;
      history[push ? "pushState" : "replaceState"](null, "", String(all) ? `#${all}` : location.pathname + location.search);
    },
  };
  // Runs `start` when the section of a widget is opened, at once where the link has one of its names.
  const whenOpen = (widget, names, start) => {
    const section = widget.closest("details");
    let begun = null;
    const begin = () => (begun ??= start(widget));
    const look = () => {
      if (!names.some((name) => link.read(name) !== null)) return begun?.then((change) => change());
      for (let one = section; one !== null; one = one.parentElement.closest("details")) one.open = true;
      return begin().then((change) => change());
    };
    if (section === null || section.open) begin();
    section?.addEventListener("toggle", () => { if (section.open) begin(); });
    addEventListener("popstate", look);
    if (names.some((name) => link.read(name) !== null)) look()?.then(() => widget.scrollIntoView());
  };
  Object.assign(swingby, { make, save, copier, link, whenOpen });

  const Z = 1.959963984540054;
  const MOST_VALUES = 40, BINS = 24, MOST_LINES = 400, STEPS = 200;
  const INK = "#1d2733", PALETTE = ["#2a6f97", "#e0952a", "#7a3fa0", "#2c8c5a", "#d1495b", "#7fb13d", "#5b4fb3", "#1fa187", "#a0522d", "#6b7785"];
  const NONE = "";
  const range = (count) => Array.from({ length: count }, (_, i) => i);
  const short = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(3))) : String(value));
  const count = (number) => number.toLocaleString("en-US");
  const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

  // Wilson's interval of 95 % of k of n.
  const wilson = (k, n) => {
    const share = k / n, spread = 1 + Z * Z / n;
    const middle = (share + Z * Z / (2 * n)) / spread;
    const half = (Z / spread) * Math.sqrt((share * (1 - share)) / n + (Z * Z) / (4 * n * n));
    return [Math.max(0, middle - half), Math.min(1, middle + half)];
  };
  const median = (values) => {
    const sorted = Float64Array.from(values).sort(), at = sorted.length >> 1;
    return sorted.length % 2 ? sorted[at] : (sorted[at - 1] + sorted[at]) / 2;
  };
  // As SQL orders numbers: NaN is larger than all others.
  const less = (a, b) => (Number.isNaN(b) ? !Number.isNaN(a) : a < b);
  const COMPARISONS = { "<": less, ">": (a, b) => less(b, a), "<=": (a, b) => !less(b, a), ">=": (a, b) => !less(a, b) };

  // The columns of all runs, each made when it is asked for: an array of values, null where one is not known.
  const tableOf = (facts, buffer) => {
    const bits = (at) => { const bytes = new Uint8Array(buffer, at); return (row) => ((bytes[row >> 3] >> (row & 7)) & 1) === 1; };
    const made = {};
    const at = (place) => (made[place] ??= (() => {
      const of = facts.columns[place];
      const known = of.known === null ? () => true : bits(of.known);
      const types = { int32: Int32Array, float: Float32Array, double: Float64Array };
      if (of.at === null) return null;
      const numbers = of.type === "bool" ? null : new types[of.type](buffer, of.at, facts.rows);
      const flags = of.type === "bool" ? bits(of.at) : null;
      const value = flags ?? ((row) => (of.values ? of.values[numbers[row]] : numbers[row]));
      return range(facts.rows).map((row) => (known(row) ? value(row) : null));
    })());
    const named = new Map(facts.columns.map(({ name }, place) => [name, place]));
    const points = new Map(facts.points.map((point, i) => [point, facts.places[i]]));
    const places = at(named.get("point")).map((point) => points.get(point));
    return {
      points: at(named.get("point")),
      of: (name) => at(named.get(name)),
      at,
      axis: (index) => places.map((place) => place[index]),
    };
  };

  // A yes/no outcome whose constant is moved: what SQL gives for the expression, with its rules for null.
  const recomputed = (table, rule, threshold) => {
    const value = table.at(rule.value), unit = rule.unit === null ? null : table.at(rule.unit);
    const given = rule.given === null ? null : table.of(rule.given);
    const compare = COMPARISONS[rule.comparison];
    return value.map((one, row) => {
      const limit = unit === null ? threshold : unit[row] === null ? null : threshold * unit[row];
      const holds = one === null || limit === null ? null : compare(one, limit);
      if (given === null || given[row] === true) return holds;
      return given[row] === false || holds === false ? false : null;
    });
  };

  // What stands on an axis: labels in order, and the place of each run on it (-1: not known).
  const axisOf = (facts, table, name) => {
    if (name === NONE) return { title: "", labels: [""], at: null };
    const index = facts.axes.findIndex((axis) => axis.name === name);
    if (index >= 0) return { title: facts.axes[index].title, labels: facts.axes[index].labels, at: table.axis(index) };
    const of = facts.columns.find((column) => column.name === name), values = table.of(name);
    const title = of.unit ? `${of.title} / ${of.unit}` : of.title;
    if (of.kind === "yes_no") return { title, labels: ["no", "yes"], at: values.map((value) => (value === null ? -1 : Number(value))) };
    if (of.kind === "category") {
      const places = new Map(of.values.map((value, i) => [value, i]));
      return { title, labels: of.values, at: values.map((value) => places.get(value) ?? -1) };
    }
    const finite = values.filter((value) => value !== null && Number.isFinite(value));
    const distinct = [...new Set(finite)].sort((a, b) => a - b);
    if (distinct.length <= MOST_VALUES) {
      const places = new Map(distinct.map((value, i) => [value, i]));
      return { title, labels: distinct.map(short), at: values.map((value) => places.get(value) ?? -1) };
    }
    const low = distinct[0], high = distinct[distinct.length - 1];
    const scale = low > 0 && high / low > 100 ? Math.log : (value) => value;
    const back = scale === Math.log ? Math.exp : (value) => value;
    const edge = (i) => back(scale(low) + ((scale(high) - scale(low)) * i) / BINS);
    const at = values.map((value) => (value === null || !Number.isFinite(value) ? -1 : Math.min(BINS - 1, Math.floor((BINS * (scale(value) - scale(low))) / (scale(high) - scale(low))))));
    return { title: `${title}, in ${BINS} bins`, labels: range(BINS).map((i) => `${short(edge(i))} to ${short(edge(i + 1))}`), ticks: range(BINS).map((i) => short(edge(i))), at };
  };

  // What is drawn of the runs at one place.
  const SUMMARIES = {
    yes_no: (values) => {
      const k = values.filter(Boolean).length, n = values.length, [low, high] = wilson(k, n);
      return { value: k / n, low, high, k, text: `${(k / n).toFixed(2)} (${k} of ${n}), 95 %: ${low.toFixed(2)} to ${high.toFixed(2)}` };
    },
    number: (values) => {
      const middle = median(values);
      return { value: Number.isFinite(middle) ? middle : null, text: short(middle) };
    },
    category: (values, order) => {
      const counts = new Map();
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
      const sorted = [...counts].sort((a, b) => b[1] - a[1] || order.indexOf(a[0]) - order.indexOf(b[0]));
      return { value: sorted[0][0], text: sorted.map(([value, times]) => `${value} ${times}`).join(", ") };
    },
  };
  const aggregated = (dimensions, values, kind, order) => {
    const [x, y, facet] = dimensions, groups = new Map();
    values.forEach((value, row) => {
      if (value === null || (kind === "number" && Number.isNaN(value))) return;
      const [i, j, f] = dimensions.map(({ at }) => (at === null ? 0 : at[row]));
      if (i < 0 || j < 0 || f < 0) return;
      const key = (f * y.labels.length + j) * x.labels.length + i;
      if (!groups.has(key)) groups.set(key, { i, j, f, of: [] });
      groups.get(key).of.push(value);
    });
    return [...groups.values()].map(({ i, j, f, of }) => ({
      i, j, f, n: of.length, x: x.labels[i], y: y.labels[j], facet: facet.labels[f], ...SUMMARIES[kind](of, order),
    }));
  };

  const wrapped = (text, most) => text.split(" ").reduce((lines, word) => {
    const last = lines[lines.length - 1];
    if (last !== undefined && last.length + word.length < most) lines[lines.length - 1] = `${last} ${word}`; else lines.push(word);
    return lines;
  }, []);
  const specOf = (dimensions, colour, rows, width) => {
    const [x, y, facet] = dimensions;
    const panels = facet.at === null ? 1 : facet.labels.length;
    const columns = panels === 1 ? 1 : Math.max(1, Math.min(panels, panels === 4 ? 2 : 3, Math.floor(width / 230)));
    const side = Math.max(130, Math.min({ 1: 460, 2: 340, 4: 290 }[panels] ?? 212, Math.floor((width - (columns === 1 ? 60 : 150)) / columns) - 26));
    const narrow = columns === 1 && width < 480;
    const ticksOf = (one) => one.ticks ?? one.labels;
    const axis = (one, name, length) => ({
      title: one.title, labelExpr: `${name}[datum.value]`, labelOverlap: "greedy", labelSeparation: 4, labelLimit: 90,
      values: range(one.labels.length).filter((i) => i % Math.ceil((one.labels.length * 14) / length) === 0),
    });
    const height = y.at === null ? Math.round(side * 0.5) : Math.min(side, Math.max(90, 34 * y.labels.length));
    const tooltip = [
      { field: "x", title: x.title }, ...(y.at === null ? [] : [{ field: "y", title: y.title }]),
      ...(facet.at === null ? [] : [{ field: "facet", title: facet.title }]),
      { field: "text", title: colour.title }, { field: "n", title: "runs" },
    ].map((one) => ({ ...one, type: "nominal" }));
    const numbers = rows.map(({ value }) => value).filter((value) => typeof value === "number");
    const least = Math.min(...numbers), most = Math.max(...numbers);
    const scales = {
      yes_no: { type: "quantitative", scale: { scheme: "viridis", domain: [0, 1] } },
      number: { type: "quantitative", scale: { scheme: "cividis", domain: [least, most > least ? most : least + 1], ...(least > 0 && most / least > 100 ? { type: "log" } : {}) } },
      category: { type: "nominal", scale: { domain: colour.order ?? [], range: PALETTE } },
    };
    const gradient = colour.kind === "category" ? {} : { format: ".2~g", tickCount: 5 };
    const legend = { title: wrapped(colour.legend, columns === 1 ? 60 : 24), titleLimit: 300, ...(narrow || columns === 1 ? { orient: "bottom", titleAnchor: "start" } : {}), ...gradient };
    const inside = "region === null || (datum.f === region[0] && datum.i >= region[1] && datum.i <= region[2] && datum.j >= region[3] && datum.j <= region[4])";
    const across = { field: "i", type: "ordinal", scale: { domain: range(x.labels.length), padding: 0 }, axis: { ...axis(x, "xl", side), labelAngle: x.labels.some((label) => label.length > 5) ? -40 : 0 } };
    const opacity = { condition: { test: inside, value: 1 }, value: 0.28 };
    const up = { field: "j", type: "ordinal", scale: { domain: range(y.labels.length).reverse(), padding: 0 }, axis: axis(y, "yl", height) };
    const panel = y.at !== null || colour.kind === "category" ? {
      mark: { type: "rect", tooltip: true },
      encoding: { x: across, y: y.at === null ? undefined : up, color: { field: "value", ...scales[colour.kind], legend }, opacity, tooltip },
    } : {
      encoding: { x: across, y: { field: "value", type: "quantitative", scale: colour.kind === "yes_no" ? { domain: [0, 1] } : scales.number.scale.type ? { type: "log" } : { zero: false }, axis: { title: colour.legend, format: ".2~g" } }, opacity, tooltip },
      layer: [
        ...(colour.kind === "yes_no" ? [{ mark: { type: "rule", color: "#6b7785" }, encoding: { y: { field: "low", type: "quantitative" }, y2: { field: "high" } } }] : []),
        { mark: { type: "point", filled: true, size: 45, color: "#2a6f97", tooltip: true } },
      ],
    };
    const config = {
      background: "white", font: "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif", padding: 4, view: { stroke: null, fill: "#eef1f4" },
      axis: { labelColor: INK, titleColor: INK, titleFontWeight: "normal", grid: false, domainColor: "#6b7785", tickColor: "#6b7785" },
      legend: { labelColor: INK, titleColor: INK, titleFontWeight: "normal" }, header: { labelColor: INK, titleColor: INK, titleFontWeight: "normal" },
    };
    const whole = {
      params: [{ name: "region", value: null }, { name: "xl", value: ticksOf(x) }, { name: "yl", value: ticksOf(y) }, { name: "fl", value: facet.labels }],
      data: { name: "tiles", values: rows }, config,
    };
    if (facet.at === null) return { ...whole, width: side, height, ...panel };
    return { ...whole, columns, spacing: 18, facet: { field: "f", type: "ordinal", sort: range(panels), header: { title: facet.title, labelExpr: "fl[datum.value]" } }, spec: { width: side, height, ...panel } };
  };

  // The median curves of points, all in one diagram for each curve.
  const curvesOf = ({ panel, curves }, points, width) => {
    const sums = (list) => { let at = 0; return list.map((step) => (at += step)); };
    const drawn = points.filter((point) => String(point) in curves.of);
    const every = Math.max(1, Math.ceil(drawn.length / MOST_LINES));
    const chosen = drawn.filter((_, i) => i % every === 0);
    const parts = panel.names.map((name, c) => {
      const unit = panel.units[c];
      const rows = chosen.flatMap((point) => {
        const curve = curves.of[String(point)];
        const steps = sums(curves.steps[Array.isArray(curve.steps) ? curve.steps[c] : curve.steps]);
        return sums(curve.losses[c][0]).map((value, i) => ({ point, step: steps[i], value: unit === null ? 10 ** (value / 1000) : value * unit }));
      });
      return {
        width: Math.max(200, Math.min(360, width - 90)), height: 190, data: { values: rows },
        mark: { type: "line", strokeWidth: 0.8, opacity: chosen.length > 30 ? 0.35 : 0.7, color: "#2a6f97", clip: true },
        encoding: {
          x: { field: "step", type: "quantitative", scale: { type: "symlog", constant: 1, nice: false }, axis: { title: "step", tickCount: 5, labelExpr: "datum.value < 1000 ? datum.label : format(datum.value, '~s')", labelOverlap: "greedy" } },
          y: { field: "value", type: "quantitative", scale: unit === null ? { type: "log", nice: false } : { zero: false }, axis: { title: name, format: ".1~g", tickCount: 5, labelOverlap: "greedy" } },
          detail: { field: "point" },
        },
      };
    });
    const config = { background: "white", font: "Helvetica Neue, Helvetica, Arial, Liberation Sans, sans-serif", view: { stroke: null }, axis: { grid: false, labelColor: INK, titleColor: INK, titleFontWeight: "normal", domainColor: "#6b7785", tickColor: "#6b7785" } };
    return { drawn: drawn.length, lines: chosen.length, spec: { columns: Math.max(1, Math.floor(width / 430)), concat: parts, config } };
  };

  const start = async (widget) => {
    const data = await swingby.data, facts = data.explore;
    widget.append(make("p", { className: "note", textContent: "Reading the runs …" }));
    const table = tableOf(facts, await swingby.attachment("rows"));
    widget.replaceChildren(...widget.querySelectorAll("noscript"));

    const drawable = facts.columns.filter(({ kind }) => kind !== null);
    const axes = facts.axes.map(({ name, title }) => [name, title]);
    const outcomes = drawable.map(({ name, title }) => [name, title]);
    const choices = { x: [...axes, ...outcomes], y: [[NONE, "none"], ...axes, ...outcomes], facet: [[NONE, "none"], ...axes, ...outcomes], colour: [...outcomes, ...axes] };
    const words = { x: "x", y: "y", facet: "Panels", colour: "Colour" };
    const first = Object.fromEntries(Object.keys(choices).map((name) => [name, facts.start[name] ?? NONE]));
    let state = { ...first, at: null, region: null };

    const selects = Object.fromEntries(Object.entries(choices).map(([name, options]) => {
      const select = make("select", { onchange: () => change({ [name]: select.value, region: null, ...(name === "colour" ? { at: null } : {}) }) });
      for (const [group, entries] of [["axes of the sweep", options.filter(([one]) => axes.some(([axis]) => axis === one))], ["what runs gave", options.filter(([one]) => one !== NONE && !axes.some(([axis]) => axis === one))]]) {
        if (entries.length) select.append(Object.assign(make("optgroup", {}, ...entries.map(([value, title]) => new Option(title, value))), { label: group }));
      }
      if (options[0][0] === NONE) select.prepend(new Option("none", NONE));
      return [name, select];
    }));
    const slider = make("input", { type: "range", min: "0", max: String(STEPS), step: "1" });
    const number = make("input", { type: "number", step: "any" });
    const back = make("button", { type: "button", textContent: "as declared", onclick: () => change({ at: null }) });
    const rule = make("code"), ruled = make("span", { className: "rule" });
    slider.setAttribute("aria-label", "threshold");
    number.setAttribute("aria-label", "threshold as a number");
    ruled.append("Threshold: ", slider, number, " ", rule, " ", back);
    const fault = make("p", { className: "warning", hidden: true });
    fault.setAttribute("role", "alert");
    const plot = make("div", { className: "plot", tabIndex: 0 });
    plot.setAttribute("role", "group");
    const where = make("p", { className: "note" });
    where.setAttribute("aria-live", "polite");
    const summary = make("p", { className: "note" });
    const curves = make("div", { className: "plot" });
    const saver = (kind) => make("button", { type: "button", textContent: kind.toUpperCase(), onclick: async () => {
      const name = `${facts.name}-${state.colour}.${kind}`;
      if (kind === "svg") save(name, await view.toSVG(), "image/svg+xml"); else save(name, await view.toImageURL("png", 3), "image/png");
    } });
    widget.append(
      make("div", { className: "choose" }, ...Object.entries(selects).map(([name, select]) => make("label", {}, words[name], " ", select))),
      make("div", { className: "choose" }, ruled), fault,
      make("div", { className: "pair" }, make("div", {}, plot, make("p", { className: "saves" }, copier(), make("span", { textContent: " Save as " }), saver("svg"), " ", saver("png"))), curves),
      where, summary,
    );

    // The steps of the slider lie at quantiles of what is compared.
    const quantiles = {};
    const stepsOf = (name) => (quantiles[name] ??= (() => {
      const of = facts.thresholds[name], unit = of.unit === null ? null : table.at(of.unit);
      const ratios = table.at(of.value).map((value, row) => (value === null ? NaN : unit === null ? value : value / (unit[row] ?? NaN)));
      const distinct = [...new Set(ratios.filter(Number.isFinite).map((value) => Number(value.toPrecision(3))))].sort((a, b) => a - b);
      return distinct.length ? range(STEPS + 1).map((i) => distinct[Math.round((i * (distinct.length - 1)) / STEPS)]) : [of.threshold];
    })());
    const ruleOf = () => (Object.hasOwn(facts.thresholds, state.colour) ? facts.thresholds[state.colour] : null);
    let typing = null;
    const moved = (value, last) => {
      if (!Number.isFinite(value)) return;
      change({ at: Number(value.toPrecision(12)) }, last);
    };
    slider.addEventListener("input", () => moved(stepsOf(state.colour)[Math.min(Number(slider.value), stepsOf(state.colour).length - 1)], false));
    slider.addEventListener("change", () => moved(state.at ?? ruleOf().threshold, true));
    number.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(() => { if (number.value !== "") moved(Number(number.value), true); }, 300); });

    let view = null, kept = null, turn = 0, rows = [], dimensions = [];
    const valuesOf = () => {
      const rule_ = ruleOf();
      if (rule_ !== null && state.at !== null) return { kind: "yes_no", values: recomputed(table, rule_, state.at) };
      const index = facts.axes.findIndex((axis) => axis.name === state.colour);
      if (index >= 0) {
        const { numbers, labels } = facts.axes[index];
        return { kind: numbers ? "number" : "category", order: labels, values: table.axis(index).map((place) => (numbers ?? labels)[place]) };
      }
      const of = facts.columns.find((column) => column.name === state.colour);
      // As the maps of the page: a number that is 0 where a run has no such thing is that of the runs that have it.
      const values = of.absent ? table.of(state.colour).map((value) => (value === 0 ? null : value)) : table.of(state.colour);
      return { kind: of.kind, order: of.values, values, among: of.absent ? ` of the runs with a ${of.absent}` : "" };
    };
    const titleOf = (name) => facts.axes.find((axis) => axis.name === name)?.title ?? facts.columns.find((column) => column.name === name)?.title ?? "";
    const draw = async () => {
      const mine = ++turn;
      for (const [name, select] of Object.entries(selects)) select.value = state[name];
      const rule_ = ruleOf();
      ruled.hidden = rule_ === null;
      if (rule_ !== null) {
        const threshold = state.at ?? rule_.threshold, steps = stepsOf(state.colour);
        const nearest = steps.findIndex((step) => step >= threshold);
        slider.max = String(steps.length - 1);
        slider.value = String(nearest < 0 ? steps.length - 1 : nearest);
        if (document.activeElement !== number) number.value = String(threshold);
        rule.textContent = rule_.words.replace("…", String(threshold));
        back.hidden = state.at === null || state.at === rule_.threshold;
      }
      const { kind, values, order, among = "" } = valuesOf();
      const key = [state.x, state.y, state.facet].join("\n");
      if (dimensions.key !== key) dimensions = Object.assign([state.x, state.y, state.facet].map((name) => axisOf(facts, table, name)), { key });
      rows = aggregated(dimensions, values, kind, order ?? []);
      const title = titleOf(state.colour);
      const legend = { yes_no: `share: ${title}`, number: `median ${title}${among}`, category: `most common ${title}` }[kind];
      const width = widget.clientWidth;
      const same = [key, state.colour, kind, width].join("\n");
      if (view !== null && kept === same && kind === "yes_no") {
        await view.data("tiles", rows).runAsync();
      } else {
        const spec = specOf(dimensions, { kind, title, legend, order }, rows, width);
        const fresh = await swingby.draw(plot, JSON.parse(JSON.stringify(spec)));
        if (mine !== turn) { fresh.finalize(); return; }
        view = fresh;
        kept = same;
        listen(view);
      }
      const known = rows.reduce((sum, { n }) => sum + n, 0), counts = rows.map(({ n }) => n);
      plot.setAttribute("aria-label", `${legend} over ${dimensions.map(({ title: one }) => one).filter(Boolean).join(", ")}. Arrow keys move from tile to tile, with shift they widen a region, page up and page down change the panel, escape lets go.`);
      const each = !counts.length ? "" : Math.min(...counts) === Math.max(...counts) ? `, ${count(counts[0])} in each tile` : `, ${count(Math.min(...counts))} to ${count(Math.max(...counts))} in a tile`;
      summary.textContent = `${count(known)} of ${count(facts.rows)} runs${each}. Numbers are those of the store, rounded to seven digits (float32)${Object.keys(facts.thresholds).length ? ", and exact where a threshold is compared with them" : ""}.${facts.dropped.length ? ` Left out, since the page would be too large: ${facts.dropped.join(", ")}.` : ""}`;
      await mark();
      swingby.explore.rows = () => rows;
      widget.dataset.drawn = JSON.stringify(state);
    };

    // The region: a panel, and the first and the last place on either axis.
    const inside = ({ f, i, j }, [panel, left, right, low, high]) => f === panel && i >= left && i <= right && j >= low && j <= high;
    const mark = async () => {
      const region = state.region;
      await view.signal("region", region).runAsync();
      if (region === null) { where.textContent = "Drag over the diagram, or move by arrow keys: the curves of what is chosen are drawn."; curves.replaceChildren(); return; }
      const chosen = rows.filter((row) => inside(row, region)), [x, y, facet] = dimensions;
      const ends = (one, low, high) => (one.at === null ? null : low === high ? `${one.title} ${one.labels[low]}` : `${one.title} ${one.labels[low]} to ${one.labels[high]}`);
      const place = [ends(x, region[1], region[2]), ends(y, region[3], region[4]), facet.at === null ? null : `${facet.title} ${facet.labels[region[0]]}`].filter(Boolean).join(", ");
      const points = new Set();
      table.points.forEach((point, row) => {
        const [i, j, f] = dimensions.map(({ at }) => (at === null ? 0 : at[row]));
        if (inside({ i, j, f }, region)) points.add(point);
      });
      const result = chosen.length === 1 ? `: ${titleOf(state.colour)} ${chosen[0].text}` : "";
      const runs = chosen.reduce((sum, { n }) => sum + n, 0);
      let lines = "";
      if (data.panel && points.size) {
        const beside = widget.clientWidth - plot.offsetWidth - 24;
        const drawn = curvesOf(data, [...points].sort((a, b) => a - b), beside < 320 ? widget.clientWidth : beside);
        if (drawn.lines) await swingby.draw(curves, drawn.spec); else curves.replaceChildren();
        lines = drawn.lines === drawn.drawn ? ` Drawn beside it: the median curves of ${plural(drawn.drawn, "point")}.` : ` Drawn beside it: the median curves of ${count(drawn.lines)} of ${plural(drawn.drawn, "point")}.`;
      }
      where.textContent = `${place}${result}; ${plural(runs, "run")} at ${plural(points.size, "point")}.${lines}`;
    };
    const choose = (region, push) => change({ region }, push);
    const box = (a, b) => [a.f, Math.min(a.i, b.i), Math.max(a.i, b.i), Math.min(a.j, b.j), Math.max(a.j, b.j)];
    let anchor = null, cursor = null;
    const listen = (of) => {
      let from = null;
      of.addEventListener("mousedown", (event, item) => {
        from = item?.datum?.f === undefined ? null : item.datum;
        if (from === null) { if (state.region) choose(null, true); return; }
        event.preventDefault();
        plot.focus({ preventScroll: true });
        anchor = cursor = from;
        view.signal("region", box(from, from)).run();
      });
      of.addEventListener("mousemove", (_, item) => {
        if (from === null || item?.datum?.f !== from.f) return;
        cursor = item.datum;
        view.signal("region", box(from, cursor)).run();
      });
      addEventListener("mouseup", () => { if (from !== null) { choose(box(from, cursor), true); from = null; } });
    };
    const MOVES = { ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowDown: [0, -1, 0], ArrowUp: [0, 1, 0], PageUp: [0, 0, -1], PageDown: [0, 0, 1] };
    plot.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && state.region) { choose(null, true); anchor = cursor = null; return; }
      const move = MOVES[event.key];
      if (!move) return;
      event.preventDefault();
      const [x, y, facet] = dimensions;
      const bound = (value, of) => Math.max(0, Math.min(of.labels.length - 1, value));
      if (cursor === null) cursor = anchor = { i: state.region?.[1] ?? 0, j: state.region?.[3] ?? 0, f: state.region?.[0] ?? 0 };
      else cursor = { i: bound(cursor.i + move[0], x), j: bound(cursor.j + move[1], y), f: bound(cursor.f + move[2], facet) };
      if (!event.shiftKey || cursor.f !== anchor.f) anchor = cursor;
      choose(box(anchor, cursor), false);
    });

    const toLink = () => ({ x: state.x, y: state.y, facet: state.facet, colour: state.colour, at: state.at === null ? null : String(state.at), region: state.region === null ? null : state.region.join(".") });
    let pending = Promise.resolve();
    const redraw = () => (pending = pending.then(draw, draw));
    const change = (values, push = true) => {
      state = { ...state, ...values };
      if ("region" in values && values.region === null) anchor = cursor = null;
      fault.hidden = true;
      link.write(toLink(), push);
      return redraw();
    };
    // What the link asks for; what it cannot have is named, and left as it is at first.
    const fromLink = () => {
      const faults = [], next = { ...first, at: null, region: null };
      for (const [name, options] of Object.entries(choices)) {
        const value = link.read(name);
        if (value === null) continue;
        if (options.some(([one]) => one === value)) next[name] = value; else faults.push(`${words[name]} “${value.slice(0, 60)}” is not on this page`);
      }
      const at = link.read("at");
      if (at !== null) {
        if (at.trim() !== "" && Number.isFinite(Number(at)) && Object.hasOwn(facts.thresholds, next.colour)) next.at = Number(Number(at).toPrecision(12));
        else faults.push(`“${at.slice(0, 60)}” is no threshold here`);
      }
      const region = link.read("region");
      if (region !== null) {
        const limits = [next.facet, next.x, next.x, next.y, next.y].map((name) => axisOf(facts, table, name).labels.length);
        const parts = region.split(".").map((part) => (/^\d{1,6}$/.test(part) ? Number(part) : NaN));
        const fits = parts.length === 5 && parts.every((part, i) => part < limits[i]) && parts[1] <= parts[2] && parts[3] <= parts[4];
        if (fits) next.region = parts; else faults.push(`“${region.slice(0, 60)}” is no region of this diagram`);
      }
      state = next;
      fault.hidden = faults.length === 0;
      fault.textContent = faults.length ? `The link cannot be followed in full: ${faults.join("; ")}. This is ignored.` : "";
      return redraw();
    };
    let width = 0;
    new ResizeObserver(() => { if (view !== null && Math.abs(widget.clientWidth - width) > 40) { width = widget.clientWidth; redraw(); } }).observe(widget);
    width = widget.clientWidth;
    await fromLink();
    return fromLink;
  };
  swingby.explore = { tableOf, recomputed, wilson, rows: () => [] };
  const widget = document.querySelector('[data-widget="explore"]');
  if (widget !== null) whenOpen(widget, ["x", "y", "facet", "colour", "at", "region"], start);
})();
