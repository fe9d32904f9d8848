"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const form = byId("filters"), search = byId("search"), kind = byId("kind"), has = byId("has"), status = byId("status");
  const tables = [...document.querySelectorAll("table[data-table]")];
  const collator = new Intl.Collator("en", { numeric: true });
  const names = data.models.map(([name]) => name.toLowerCase());
  const rows = tables.map((table) => [...table.tBodies[0].rows]);
  const models = rows.map((own) => own.map((row) => Number(row.dataset.model)));
  const AT_FIRST = 200;  // rows of a table: thousands take a second to lay out, and are shown when asked for
  const limits = rows.map(() => AT_FIRST);
  const orders = rows.map((own) => own.map((_, k) => k));
  let fits = names.map(() => true), sorted = "";
  const number = (n) => n.toLocaleString("en");

  const show = (t) => {
    let n = 0;
    for (const k of orders[t]) {
      const fit = fits[models[t][k]];
      rows[t][k].hidden = !fit || n >= limits[t];
      n += fit;
    }
    const more = tables[t].closest("section").querySelector(".more");
    more.hidden = n <= limits[t];
    more.querySelector("button").textContent = `Show all ${number(n)} models`;
    if (t === 0) {
      const first = n > limits[0] ? `, the first ${number(limits[0])} of them shown` : "";
      status.textContent = `${number(n)} of ${number(rows[0].length)} models${first}${sorted}`;
    }
  };
  const showAll = () => tables.forEach((_, t) => show(t));

  // Rows move as a whole; what has no value stays last whichever way.
  const sort = (t, heads, c, head) => {
    const column = c === 0 ? null : data.tables[t][c - 1];
    const best = column === null || column.lower ? "ascending" : "descending";
    const other = best === "ascending" ? "descending" : "ascending";
    const way = head.getAttribute("aria-sort") === best ? other : best;
    const sign = way === "ascending" ? 1 : -1;
    const order = rows[t].map((_, k) => k);
    order.sort((one, two) => {
      if (column === null) return sign * collator.compare(names[models[t][one]], names[models[t][two]]);
      const [a, b] = [column.values[one], column.values[two]];
      if (a === null || b === null) return (a === null) - (b === null) || one - two;
      return sign * (a - b) || one - two;
    });
    const body = tables[t].tBodies[0], all = document.createDocumentFragment();
    for (const k of order) all.append(rows[t][k]);
    body.append(all);
    orders[t] = order;
    for (const each of heads) each.setAttribute("aria-sort", each === head ? way : "none");
    const told = head.querySelector(".name") || head.querySelector("button");
    sorted = `, sorted by ${told.textContent.trim()}, ${column === null ? way : way === best ? "best first" : "worst first"}`;
    show(t);
    if (t > 0) show(0);
  };

  tables.forEach((table, t) => {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, c) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = c === 0 ? "plain" : "";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(t, heads, c, head));
    });
    table.closest("section").querySelector(".more button").addEventListener("click", () => {
      limits[t] = Infinity;
      show(t);
    });
  });

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const column = has.value === "" ? null : data.tables[0][Number(has.value)].values;
    models[0].forEach((model, k) => {
      const [, isVariant, isLinked] = data.models[model];
      const ofKind = { all: true, base: !isVariant, variant: isVariant, linked: isLinked }[kind.value];
      const named = words.every((word) => names[model].includes(word));
      fits[model] = ofKind && named && (column === null || column[k] !== null);
    });
    showAll();
  };

  // A link to a row that is not shown shows all rows again.
  const toTarget = () => {
    const row = byId(decodeURIComponent(location.hash.slice(1)));
    if (row && row.hidden) {
      form.reset();
      limits[0] = Infinity;
      filter();
      row.scrollIntoView();
    }
  };
  addEventListener("hashchange", toTarget);
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
  showAll();
  for (const table of tables) table.tBodies[0].classList.remove("cut");
  toTarget();
})();
