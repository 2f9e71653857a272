// A box for SQL over every run: answered by DuckDB-WASM inside the page, or by the server that the page is from. What differs
// is an adapter: `run(sql, limit)` gives {names, rows, cut}, `csv(sql)` the rows as the text of a CSV file.
"use strict";
(() => {
  const swingby = window.swingby, { make, save, copier, link } = swingby;
  const SHOWN = 1000;

  // CSV as DuckDB writes it with `force_quote *`: every value in quotes, null without.
  const parsed = (text) => {
    const rows = [];
    let row = [], at = 0;
    while (at < text.length) {
      let value = null;
      if (text[at] === '"') {
        let end = at + 1;
        while (text[end] !== '"' || text[end + 1] === '"') end += text[end] === '"' ? 2 : 1;
        value = text.slice(at + 1, end).replaceAll('""', '"');
        at = end + 1;
      }
      row.push(value);
      if (text[at] === "\n" || at >= text.length) { rows.push(row); row = []; }
      at += 1;
    }
    return rows;
  };

  // The engine: its module goes to the worker in a message, since a worker of a page from a file cannot fetch it. What the
  // page's policy would refuse anyway, a request for a file of a network, the worker cannot even try.
  const SHIM = `{
    let module = null;
    self.addEventListener("message", (event) => {
      if (event.data.module === undefined) return;
      module = event.data.module;
      event.stopImmediatePropagation();
    });
    self.fetch = async () => new Response(module, { headers: { "content-type": "application/wasm" } });
    self.XMLHttpRequest = class { constructor() { throw new Error("this page has no network: only its own table can be read"); } };
  }\n`;
  const inPage = ({ table }) => {
    let engine = null;
    const begin = async (say) => {
      say("Unpacking DuckDB …");
      const [script, module, rows] = await Promise.all(["engine-worker", "engine-module", "rows"].map((id) => swingby.attachment(id)));
      const worker = new Worker(URL.createObjectURL(new Blob([SHIM, script], { type: "text/javascript" })));
      const waiting = new Map();
      worker.onmessage = ({ data: { requestId, type, data } }) => {
        const promise = waiting.get(requestId);
        if (promise === undefined || type === "INSTANTIATE_PROGRESS") return;
        waiting.delete(requestId);
        if (type === "ERROR") promise.reject(new Error(data.message)); else promise.resolve(data);
      };
      worker.onerror = (event) => { for (const { reject } of waiting.values()) reject(new Error(event.message)); };
      let last = 0;
      const call = (type, data = null, moved = []) => new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        worker.postMessage({ messageId: last, type, data }, moved);
      });
      worker.postMessage({ module }, [module]);
      say("Starting DuckDB …");
      await call("INSTANTIATE", ["data:,", null]);
      await call("OPEN", { path: ":memory:", query: { castBigIntToDouble: false } });
      const connection = await call("CONNECT");
      await call("INSERT_ARROW_FROM_IPC_STREAM", [connection, new Uint8Array(rows), { name: table, create: true }], [rows]);
      // Nothing else can be loaded: there is no network, and a query that needs more fails plainly.
      await call("RUN_QUERY", [connection, "set autoinstall_known_extensions = false; set autoload_known_extensions = false"]);
      return { worker, call, connection };
    };
    const file = "answer.csv";
    const written = async (sql, how, say) => {
      engine ??= begin(say);
      const { call, connection } = await engine.catch((error) => { engine = null; throw error; });
      say("Running …");
      await call("REGISTER_FILE_BUFFER", [file, new Uint8Array(0)]);
      await call("RUN_QUERY", [connection, `copy (${sql}) to '${file}' (${how})`]);
      const bytes = await call("COPY_FILE_TO_BUFFER", file);
      await call("DROP_FILE", file);
      return new TextDecoder().decode(bytes);
    };
    // The query stands on lines of its own, so that a comment ends with it; the engine's lines are counted from its first.
    const within = (sql) => `select * from (\n${sql.replace(/[\s;]+$/, "")}\n)`;
    const plainly = (error) => new Error(error.message.replace(/LINE (\d+)/g, (_, line) => `LINE ${Math.max(1, line - 1)}`));
    return {
      run: async (sql, limit, say) => {
        const text = await written(`${within(sql)} limit ${limit + 1}`, "format csv, header, force_quote *, nullstr '', use_tmp_file false", say).catch((error) => { throw plainly(error); });
        const [names, ...rows] = parsed(text);
        return { names, rows: rows.slice(0, limit), cut: rows.length > limit };
      },
      csv: (sql, say) => written(within(sql), "format csv, header, use_tmp_file false", say).catch((error) => { throw plainly(error); }),
      stop: async () => {
        const { worker } = await engine;
        worker.terminate();
        engine = null;
      },
    };
  };

  // The server: its guard, its sandbox and its limits are those of its own page for SQL.
  const atServer = ({ path }) => {
    const answer = async (form, sql, limit) => {
      const query = new URLSearchParams({ q: sql, ...(limit ? { limit } : {}) });
      const response = await fetch(`${path}.${form}?${query}`, { headers: { accept: "application/json" } });
      if (response.ok) return response;
      const text = await response.text();
      throw new Error(response.headers.get("content-type")?.startsWith("application/json") ? JSON.parse(text).error : `The server refused this (${response.status}).`);
    };
    return {
      run: async (sql, limit, say) => {
        say("Running …");
        const response = await answer("json", sql, limit), objects = await response.json();
        const names = objects.length ? Object.keys(objects[0]) : [];
        return { names, rows: objects.map((one) => names.map((name) => one[name])), cut: response.headers.get("x-rows-cut") === "true" };
      },
      csv: async (sql, say) => { say("Running …"); return (await answer("csv", sql)).text(); },
    };
  };

  const start = async (widget) => {
    const { sql: facts } = await swingby.data;
    const adapter = facts.path === undefined ? inPage(facts) : atServer(facts);
    const box = make("textarea", { rows: 7, spellcheck: false, value: facts.query });
    box.setAttribute("aria-label", "SQL");
    const run = make("button", { type: "button", className: "main", textContent: "Run", title: "Ctrl + Enter" });
    const stop = make("button", { type: "button", textContent: "Stop", hidden: true });
    const csv = make("button", { type: "button", textContent: "Save as CSV" });
    const status = make("p", { className: "note" });
    status.setAttribute("aria-live", "polite");
    const fault = make("pre", { className: "fault", hidden: true });
    fault.setAttribute("role", "alert");
    const result = make("div", { className: "scroll", hidden: true, tabIndex: 0 });
    widget.append(
      box,
      make("p", { className: "saves" }, run, " ", stop, " ", csv, " ", copier(), make("span", { className: "note", textContent: " Ctrl + Enter runs the query." })),
      status, fault, result,
    );
    const columns = make("dl", { className: "columns" });
    for (const [name, meaning] of Object.entries(facts.columns ?? {})) columns.append(make("dt", {}, make("code", { textContent: name })), make("dd", { textContent: meaning }));
    if (columns.childElementCount) widget.append(make("details", {}, make("summary", { textContent: `The ${columns.childElementCount / 2} columns of ${facts.table}` }), columns));

    const say = (text) => { status.textContent = text; };
    let turn = 0;
    // One query at a time; a later one waits for none that was stopped.
    const busy = async (work) => {
      const mine = ++turn;
      fault.hidden = true;
      run.disabled = csv.disabled = true;
      stop.hidden = adapter.stop === undefined;
      const began = performance.now();
      try {
        await work(() => mine === turn, () => (performance.now() - began) / 1000);
      } catch (error) {
        if (mine !== turn) return;
        say("");
        result.hidden = true;
        fault.hidden = false;
        fault.textContent = error.message;
      } finally {
        if (mine === turn) { run.disabled = csv.disabled = false; stop.hidden = true; }
      }
      widget.dataset.turn = String(mine);
    };
    const shown = (value) => {
      if (value === null || value === undefined) return make("td", {}, make("span", { className: "none", textContent: "null" }));
      const text = typeof value === "object" ? JSON.stringify(value) : String(value);
      return make("td", { textContent: text.length > 300 ? `${text.slice(0, 300)}…` : text });
    };
    const ask = () => busy(async (current, seconds) => {
      link.write({ sql: box.value });
      const { names, rows, cut } = await adapter.run(box.value, SHOWN, say);
      if (!current()) return;
      const head = make("thead", {}, make("tr", {}, ...names.map((name) => Object.assign(make("th", { textContent: name }), { scope: "col" }))));
      result.replaceChildren(make("table", {}, head, make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(shown))))));
      result.hidden = names.length === 0;
      say(`${rows.length.toLocaleString("en-US")} ${rows.length === 1 ? "row" : "rows"} in ${seconds().toFixed(2)} s.${cut ? " There are more; the CSV has all." : ""}`);
    });
    run.addEventListener("click", ask);
    csv.addEventListener("click", () => busy(async (current) => {
      const text = await adapter.csv(box.value, say);
      if (!current()) return;
      save(`${facts.table ?? "rows"}.csv`, text, "text/csv");
      say("Saved.");
    }));
    stop.addEventListener("click", async () => {
      turn += 1;
      say("Stopped.");
      run.disabled = csv.disabled = false;
      stop.hidden = true;
      await adapter.stop();
    });
    box.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      if (!run.disabled) ask();
    });
    // A query of the link stands in the box; it runs when its reader says so.
    const fromLink = async () => { box.value = link.read("sql") ?? facts.query; };
    await fromLink();
    return fromLink;
  };
  const widget = document.querySelector('[data-widget="sql"]');
  if (widget !== null) swingby.whenOpen(widget, ["sql"], start);
})();
