// A search field above every table that is marked for it. Without this script the tables are complete.
for (const table of document.querySelectorAll("table[data-filter]")) {
  const rows = [...table.tBodies[0].rows];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const field = document.createElement("input");
  field.type = "search";
  field.autocomplete = "off";
  const label = document.createElement("label");
  label.append(table.dataset.filter + " ", field);
  const shown = document.createElement("output");
  const line = document.createElement("p");
  line.className = "filter";
  line.append(label, shown);
  table.parentElement.before(line);
  field.addEventListener("input", () => {
    const wanted = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, index) => {
      row.hidden = !wanted.every((word) => texts[index].includes(word));
      count += row.hidden ? 0 : 1;
    });
    shown.value = wanted.length ? `${count} of ${rows.length} rows` : "";
  });
}
