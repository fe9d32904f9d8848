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
  let sorted = "";

  const say = () => {
    const shown = rows[0].filter((row) => !row.hidden).length;
    status.textContent = `${shown.toLocaleString("en")} of ${rows[0].length.toLocaleString("en")} models shown${sorted}`;
  };

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
    for (const each of heads) each.setAttribute("aria-sort", each === head ? way : "none");
    const told = head.querySelector(".name") || head.querySelector("button");
    sorted = `, sorted by ${told.textContent.trim()}, ${column === null ? way : way === best ? "best first" : "worst first"}`;
    say();
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
  });

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const column = has.value === "" ? null : data.tables[0][Number(has.value)].values;
    const shown = new Array(names.length).fill(true);
    models[0].forEach((model, k) => {
      const [, isVariant, isLinked] = data.models[model];
      const fits = { all: true, base: !isVariant, variant: isVariant, linked: isLinked }[kind.value];
      shown[model] = fits && words.every((word) => names[model].includes(word)) && (column === null || column[k] !== null);
    });
    rows.forEach((own, t) => own.forEach((row, k) => { row.hidden = !shown[models[t][k]]; }));
    say();
  };

  // A link to a row that is filtered away shows all rows again.
  addEventListener("hashchange", () => {
    const row = byId(decodeURIComponent(location.hash.slice(1)));
    if (row && row.hidden) {
      form.reset();
      filter();
      row.scrollIntoView();
    }
  });
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
  say();
})();
