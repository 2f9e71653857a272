// Draws the figures, and shows the curves of the point that is pointed at, held by a click, or reached by the keyboard.
"use strict";
(async () => {
  const { figures, panel, grid, points, curves } = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  // ast: expressions are interpreted, so the page's policy needs no eval.
  const options = { mode: "vega-lite", renderer: "svg", ast: true, actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
  const draw = async (element, spec) => (await vegaEmbed(element, spec, options)).view;

  const views = {};
  for (const element of document.querySelectorAll("[data-figure]")) {
    views[element.dataset.figure] = await draw(element, figures[element.dataset.figure]);
  }
  if (!panel) { document.documentElement.dataset.drawn = "yes"; return; }
  const main = document.querySelector(`[data-figure="${panel.figure}"]`);
  const losses = await draw(byId("losses"), panel.losses);
  const path = panel.path ? await draw(byId("path"), panel.path) : null;

  // Curves travel as differences of whole numbers: thousandths of a decade or multiples of a unit, and thousandths of an output.
  const sums = (list) => { let at = 0; return list.map((step) => (at += step)); };
  const loss = (list, unit) => sums(list).map((value) => (unit === null ? 10 ** (value / 1000) : value * unit));
  const output = (list) => sums(list).map((value) => value / 1000);

  const band = (name, unit, step, [median, low, high]) => {
    const [m, l, h] = [loss(median, unit), loss(low, unit), loss(high, unit)];
    return step.map((at, i) => ({ kind: "band", curve: name, step: at, median: m[i], low: l[i], high: h[i] }));
  };
  const track = (kind, step, [xs, ys]) => {
    const [x, y] = [output(xs), output(ys)];
    return x.map((value, i) => ({ kind, step: step(i), x: value, y: y[i] }));
  };

  let shown = null;
  let held = false;
  const show = (point) => {
    if (point === shown || !(point in points)) return;
    shown = point;
    const curve = curves.of[point];
    const step = curve ? sums(curves.steps[curve.steps]) : [];
    byId("at").textContent = points[point].label;
    byId("share").textContent = points[point].text;
    byId("note").textContent = curve ? points[point].note : "No curve was recorded at this point.";
    losses.data("curve", curve ? panel.names.flatMap((name, i) => band(name, panel.units[i], step, curve.losses[i])) : []).run();
    if (path) {
      const has = curve && curve.path;
      const rows = has ? [...track("median", (i) => step[i], curve.path), ...track("mark", (i) => i * curve.every, curve.marks)] : [];
      path.data("path", [...panel.landmarks, ...rows]).run();
    }
    views[panel.figure].signal("picked", Number(point)).run();
    points[point].place.forEach((rank, axis) => { if (selects[axis]) selects[axis].value = String(rank); });
  };

  const pointOf = new Map(Object.entries(points).map(([point, { place }]) => [place.join(), point]));
  const go = (place) => { const point = pointOf.get(place.join()); if (point !== undefined) show(point); return point !== undefined; };

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

  const pointAt = (item) => (item && item.datum && item.datum.point !== undefined ? String(item.datum.point) : null);
  views[panel.figure].addEventListener("mousemove", (_, item) => { const point = pointAt(item); if (point !== null && !held) show(point); });
  views[panel.figure].addEventListener("click", (_, item) => {
    const point = pointAt(item);
    held = point !== null && !(held && point === shown);
    if (point !== null) show(point);
  });

  const moves = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowDown: [1, -1], ArrowUp: [1, 1], PageUp: [2, -1], PageDown: [2, 1] };
  main.addEventListener("keydown", (event) => {
    if (event.key === "Escape") held = false;
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    held = true;
    const place = [...points[shown].place];
    // Past points without a result, up to the border.
    do { place[move[0]] += move[1]; } while (place[move[0]] >= 0 && place[move[0]] < grid[move[0]].values.length && !go(place));
  });
  show(String(panel.first));
  document.documentElement.dataset.drawn = "yes";
})();
