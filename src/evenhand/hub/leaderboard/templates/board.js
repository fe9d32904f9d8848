"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filters"), search = byId("search"), kind = byId("kind"), has = byId("has"), status = byId("status");
  const collator = new Intl.Collator("en", { numeric: true });
  const AT_FIRST = 200;  // rows of a table: thousands take a second to lay out, and are shown when asked for
  const nameOf = (row) => row.cells[0].dataset.value;
  const number = (n) => n.toLocaleString("en");
  const tables = [...document.querySelectorAll("table[data-table]")].map((table) => ({
    heads: [...table.tHead.rows[0].cells], body: table.tBodies[0], rows: [...table.tBodies[0].rows], limit: AT_FIRST,
    more: table.closest("section").querySelector(".more"),
  }));
  const first = tables[0];
  let fitting = null, sorted = "";  // names of the models that are shown; null: all

  const show = (table) => {
    let n = 0;
    for (const row of table.rows) {
      const fits = fitting === null || fitting.has(nameOf(row));
      row.hidden = !fits || n >= table.limit;
      n += fits;
    }
    table.more.hidden = n <= table.limit;
    table.more.querySelector("button").textContent = `Show all ${number(n)} models`;
    if (table === first) {
      const cut = n > table.limit ? `, the first ${number(table.limit)} of them shown` : "";
      status.textContent = `${number(n)} of ${number(table.rows.length)} models${cut}${sorted}`;
    }
  };

  // By the cells of the column itself, which hold what is sorted by: numbers, or texts such as names.
  const sort = (table, head) => {
    const { best } = head.dataset;
    const way = head.getAttribute("aria-sort") !== best ? best : best === "ascending" ? "descending" : "ascending";
    const sign = way === "ascending" ? 1 : -1;
    const values = new Map(table.rows.map((row) => [row, row.cells[head.cellIndex].dataset.value ?? ""]));
    table.rows.sort((one, two) => {
      const [a, b] = [values.get(one), values.get(two)];
      if (a === "" || b === "") return (a === "") - (b === "");  // what has no value stays last whichever way
      return sign * (Number.isNaN(a - b) ? collator.compare(a, b) : a - b);
    });
    table.body.append(...table.rows);
    for (const each of table.heads) each.setAttribute("aria-sort", each === head ? way : "none");
    const name = (head.querySelector(".name") || head).textContent.trim();
    sorted = `, sorted by ${name}, ${head.classList.contains("model") ? way : way === best ? "best first" : "worst first"}`;
    show(table);
    show(first);
  };

  for (const table of tables) {
    for (const head of table.heads.filter((each) => each.dataset.best)) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = head.classList.contains("model") ? "plain" : "";
      button.append(...head.childNodes);
      head.append(button);
      head.setAttribute("aria-sort", "none");
      button.addEventListener("click", () => sort(table, head));
    }
    table.more.querySelector("button").addEventListener("click", () => {
      table.limit = Infinity;
      show(table);
    });
  }

  const filter = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = first.rows.filter((row) =>
      row.dataset.kind.split(" ").includes(kind.value) &&
      words.every((word) => nameOf(row).toLowerCase().includes(word)) &&
      (has.value === "" || row.cells[Number(has.value)].dataset.value !== undefined));
    fitting = new Set(found.map(nameOf));
    tables.forEach(show);
  };

  // A link to a row that is not shown shows all rows again.
  const toTarget = () => {
    const row = byId(decodeURIComponent(location.hash.slice(1)));
    if (row && row.hidden) {
      form.reset();
      first.limit = Infinity;
      filter();
      row.scrollIntoView();
    }
  };
  addEventListener("hashchange", toTarget);
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(filter));
  form.hidden = false;
  tables.forEach(show);
  for (const { body } of tables) body.classList.remove("cut");
  toTarget();
})();
