// Stacked tables (tables.css) hide the header; tables of three columns and more repeat it in their cells.
for (const table of document.querySelectorAll("table.docutils")) {
  const heads = [...table.querySelectorAll("thead th")].map((head) => head.textContent.trim());
  if (heads.length < 3) continue;
  for (const row of table.querySelectorAll("tbody tr"))
    [...row.cells].slice(1).forEach((cell, k) => heads[k + 1] && cell.setAttribute("data-head", heads[k + 1]));
}
// On a phone the tables of results are folded: rows are blocks there, and a page of them would be a hundred screens.
if (matchMedia("(max-width: 46em)").matches && location.pathname.includes("/results/"))
  for (const box of document.querySelectorAll(".table-wrapper")) {
    const table = box.querySelector("table.docutils");
    if (!table || table.tBodies[0].rows.length <= 5) continue;
    const fold = document.createElement("details");
    const head = [...table.querySelectorAll("thead th")].map((one) => one.textContent.trim()).filter(Boolean);
    fold.append(Object.assign(document.createElement("summary"), {
      textContent: `${table.tBodies[0].rows.length} rows: ${head.join(", ")}`,
    }));
    box.replaceWith(fold);
    fold.append(box);
  }
// Letters of what is wider than the page become smaller, as long as they are legible.
for (const box of document.querySelectorAll(".table-wrapper")) {
  const share = box.clientWidth / box.scrollWidth;
  if (share < 1) box.firstElementChild.style.fontSize = `${Math.max(share, 0.7)}em`;
}
for (const pre of document.querySelectorAll("div[class*=highlight-]:not(.highlight-python, .highlight-Python) pre")) {
  const rows = pre.textContent.split("\n").filter((line) => /\S {2,}\S|─/.test(line)); // of a table; sentences wrap
  const { fontSize, paddingLeft, paddingRight } = getComputedStyle(pre);
  const room = pre.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
  const size = room / (0.603 * Math.max(1, ...rows.map((line) => line.length))); // of letters as wide as 0.6 of it
  if (size < parseFloat(fontSize) && size >= 5) pre.style.fontSize = `${size}px`;
}
