// Stacked tables (tables.css) hide the header; tables of three columns and more repeat it in their cells.
for (const table of document.querySelectorAll("table.docutils")) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  if (heads.length < 3) continue;
  for (const row of table.querySelectorAll("tbody tr"))
    [...row.cells].slice(1).forEach((cell, k) => heads[k + 1] && cell.setAttribute("data-head", heads[k + 1]));
}
