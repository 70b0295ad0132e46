
'use strict';
{
  const byId = (id) => document.getElementById(id);
  const root = document.documentElement;

  // Colours follow the system until the button is pressed.
  const theme = byId('theme');
  const prefersDark = matchMedia('(prefers-color-scheme: dark)');
  const isDark = () => (root.dataset.theme ?? (prefersDark.matches ? 'dark' : 'light')) === 'dark';
  const nameTheme = () => { theme.textContent = isDark() ? 'Light colours' : 'Dark colours'; };
  const colour = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  const data = JSON.parse(byId('data').textContent);
  // Indices of the numbers in a cell.
  const [rankAt, beginAt, durationAt, computingAt, waitingAt, freeAt] = [0, 1, 2, 3, 4, 5];
  const metrics = [
    ['Step time', durationAt], ['Computing', computingAt],
    ['Communication not overlapped', waitingAt], ['Free', freeAt],
  ];
  const ms = (us) => `${(us / 1000).toFixed(3)} ms`;
  const labelWidth = 90;
  const headHeight = 22;
  const [rowCount, columnCount] = [data.ranks.length, data.steps.length];
  const rowHeight = Math.max(2, Math.min(18, Math.floor(640 / Math.max(rowCount, 1))));
  let metric = durationAt;
  let chosen = { row: 0, column: 0 };

  // Uses the screen resolution, but at most 16,000 pixels, about the limit of browsers.
  function prepared(canvas, width, height) {
    const ratio = Math.min(devicePixelRatio || 1, 16000 / Math.max(width, height));
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const pen = canvas.getContext('2d');
    pen.scale(ratio, ratio);
    pen.font = '12px system-ui, sans-serif';
    pen.textBaseline = 'middle';
    return pen;
  }

  function parts(hex) {
    return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  }

  // Minimum and maximum of the metric. Differences below 5 % stay pale.
  function scale() {
    let [least, most] = [Infinity, 0];
    for (const row of data.cells) {
      for (const cell of row) {
        if (cell === null) continue;
        least = Math.min(least, cell[metric]);
        most = Math.max(most, cell[metric]);
      }
    }
    if (least === Infinity) least = 0;
    return { least, most: Math.max(most, least * 1.05, least + 1), seen: most };
  }

  function eachLabel(height, draw) {
    const every = Math.max(1, Math.ceil(14 / height));
    for (let row = 0; row < rowCount; row += every) draw(row);
  }

  const boxWidth = () => Math.max(byId('map-box').clientWidth - 2, 200);
  const cellWidth = () => Math.max(3, Math.min(60, Math.floor((boxWidth() - labelWidth) / Math.max(columnCount, 1))));

  function drawMap() {
    const width = cellWidth();
    const pen = prepared(byId('map'), labelWidth + width * columnCount, headHeight + rowHeight * rowCount);
    const { least, most, seen } = scale();
    const [cold, hot] = [parts(colour('--cold')), parts(colour('--hot'))];
    data.cells.forEach((row, y) => row.forEach((cell, x) => {
      if (cell === null) return;
      const heat = Math.min(1, Math.max(0, (cell[metric] - least) / (most - least)));
      pen.fillStyle = `rgb(${cold.map((part, i) => Math.round(part + (hot[i] - part) * heat)).join(',')})`;
      const gap = rowHeight > 4 ? 1 : 0;
      pen.fillRect(labelWidth + x * width, headHeight + y * rowHeight, width - (width > 4 ? 1 : 0), rowHeight - gap);
    }));
    pen.fillStyle = colour('--text');
    eachLabel(rowHeight, (y) => pen.fillText(`rank ${data.ranks[y]}`, 4, headHeight + (y + 0.5) * rowHeight, labelWidth - 8));
    const every = Math.max(1, Math.ceil(40 / width));
    for (let x = 0; x < columnCount; x += every)
      pen.fillText(data.steps[x], labelWidth + x * width + 2, headHeight / 2, every * width - 4);
    pen.strokeStyle = colour('--text');
    pen.lineWidth = 2;
    pen.strokeRect(labelWidth + chosen.column * width, headHeight + chosen.row * rowHeight, width, Math.max(rowHeight, 3));
    byId('scale').textContent = `Pale: ${ms(least)}; full colour: ${ms(seen)}; columns are steps. Waiting makes the step times of ranks equal: a slow rank is visible in its computing time.`;
  }

  function drawStep() {
    const cells = data.cells.map((row) => row[chosen.column]);
    const end = cells.reduce((most, cell) => (cell === null ? most : Math.max(most, cell[beginAt] + cell[durationAt])), 1);
    const height = Math.max(rowHeight, 4);
    const width = boxWidth();
    const pen = prepared(byId('waterfall'), width, headHeight + height * rowCount);
    const perUs = (width - labelWidth - 70) / end;
    const colours = [[computingAt, colour('--computing')], [waitingAt, colour('--waiting')], [freeAt, colour('--free')]];
    cells.forEach((cell, y) => {
      if (cell === null) return;
      let at = labelWidth + cell[beginAt] * perUs;
      for (const [part, fill] of colours) {
        pen.fillStyle = fill;
        pen.fillRect(at, headHeight + y * height, cell[part] * perUs, height - (height > 4 ? 1 : 0));
        at += cell[part] * perUs;
      }
    });
    pen.fillStyle = colour('--text');
    pen.fillText(`0 to ${ms(end)}; each bar starts when its rank started`, labelWidth, headHeight / 2);
    eachLabel(height, (y) => {
      pen.fillText(`rank ${data.ranks[y]}`, 4, headHeight + (y + 0.5) * height, labelWidth - 8);
      if (cells[y] !== null) pen.fillText(ms(cells[y][durationAt]), width - 68, headHeight + (y + 0.5) * height, 66);
    });
    byId('step-name').textContent = data.steps[chosen.column];
  }

  function tell() {
    const cell = data.cells[chosen.row][chosen.column];
    const where = `Rank ${cell === null ? data.ranks[chosen.row] : cell[rankAt]} (${data.hosts[chosen.row]}), step ${data.steps[chosen.column]}: `;
    byId('cell').textContent = where + (cell === null ? 'nothing recorded'
      : `${ms(cell[durationAt])}: computing ${ms(cell[computingAt])}, communication not overlapped ${ms(cell[waitingAt])}, free ${ms(cell[freeAt])}`);
  }

  function draw() {
    drawMap();
    drawStep();
    tell();
  }

  function choose(row, column) {
    chosen = {
      row: Math.max(0, Math.min(rowCount - 1, row)), column: Math.max(0, Math.min(columnCount - 1, column)),
    };
    draw();
  }

  theme.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    nameTheme();
    if (byId('map')) draw();
  });
  nameTheme();
  theme.hidden = false;

  if (byId('map') && rowCount > 0 && columnCount > 0) {
    byId('pictures').hidden = false;
    prefersDark.addEventListener('change', () => { nameTheme(); draw(); });
    addEventListener('resize', draw);
    for (const [name, place] of metrics) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = name;
      button.setAttribute('aria-pressed', String(place === metric));
      button.addEventListener('click', () => {
        metric = place;
        for (const other of byId('choices').children) other.setAttribute('aria-pressed', String(other === button));
        drawMap();
      });
      byId('choices').append(button);
    }
    byId('map').addEventListener('click', (event) => {
      choose(Math.floor((event.offsetY - headHeight) / rowHeight), Math.floor((event.offsetX - labelWidth) / cellWidth()));
    });
    const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    byId('map-box').addEventListener('keydown', (event) => {
      const move = moves[event.key];
      if (!move) return;
      event.preventDefault();
      choose(chosen.row + move[0], chosen.column + move[1]);
    });
    // Initially selects the cell with the longest step.
    let most = -1;
    data.cells.forEach((row, y) => row.forEach((cell, x) => {
      if (cell === null || cell[durationAt] <= most) return;
      most = cell[durationAt];
      chosen = { row: y, column: x };
    }));
    draw();
  }
}
