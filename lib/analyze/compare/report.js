
'use strict';
{
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;
  const mostRows = 50;  // shown per table before "show all"

  // Colours follow the system until the button is pressed.
  const theme = byId('theme');
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light')) === 'dark';
  // A page in another language provides translated texts.
  const said = root.dataset;
  const nameTheme = () => {
    theme.textContent = isDark() ? said.light ?? 'Light colours' : said.dark ?? 'Dark colours';
  };
  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    nameTheme();
  });
  prefersDark.addEventListener('change', nameTheme);
  nameTheme();
  theme.hidden = false;

  const tables = [...document.querySelectorAll('main table:not(#sides, .plain)')];
  const expanded = new Set();
  const hideNoise = byId('hide-noise');
  const filter = byId('filter');

  function apply() {
    const wanted = (filter?.value ?? '').trim().toLowerCase();
    for (const table of tables) {
      let fits = 0;
      let shown = 0;
      for (const row of table.tBodies[0].rows) {
        const isWanted = !(hideNoise?.checked && row.className === 'noise') &&
          (wanted === '' || row.cells[0].textContent.toLowerCase().includes(wanted));
        if (isWanted) ++fits;
        row.hidden = !isWanted || (fits > mostRows && !expanded.has(table));
        if (!row.hidden) ++shown;
      }
      table.more.hidden = shown === fits;
      table.more.textContent = (said.rows ?? 'Show all {} rows').replace('{}', fits);
    }
    const ops = byId('ops');
    if (ops && byId('shown')) byId('shown').textContent =
      `${[...ops.tBodies[0].rows].filter((row) => !row.hidden).length} of ${ops.tBodies[0].rows.length} operators shown`;
  }

  function sort(table, column, header) {
    const isNumber = header.classList.contains('n');
    const value = (row) => row.cells[column].textContent;
    const before = header.getAttribute('aria-sort');
    const down = before === null ? isNumber : before === 'ascending';
    const compare = (a, b) => {
      if (!isNumber) return value(a).localeCompare(value(b), 'en', { numeric: true }) * (down ? -1 : 1);
      const [x, y] = [parseFloat(value(a)), parseFloat(value(b))];
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      return down ? y - x : x - y;
    };
    for (const other of table.tHead.rows[0].cells) other.removeAttribute('aria-sort');
    header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    table.tBodies[0].append(...[...table.tBodies[0].rows].sort(compare));
    apply();
  }

  for (const table of tables) {
    [...table.tHead.rows[0].cells].forEach((header, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.append(...header.childNodes);
      button.addEventListener('click', () => sort(table, column, header));
      header.replaceChildren(button);
    });
    table.more = document.createElement('button');
    table.more.type = 'button';
    table.more.addEventListener('click', () => { expanded.add(table); apply(); });
    table.parentElement.after(table.more);
  }
  hideNoise?.addEventListener('change', apply);
  filter?.addEventListener('input', apply);
  if (byId('controls')) byId('controls').hidden = false;
  apply();
}
