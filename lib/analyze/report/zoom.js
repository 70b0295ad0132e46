
'use strict';
{
  const source = document.getElementById('timeline-data');
  const svg = document.getElementById('timeline');
  if (source && svg) zoomable(JSON.parse(source.textContent), svg);

  function zoomable(data, svg) {
    const [axis, head, row, bar, gap] = [20, 17, 18, 16, 6];
    const mostArrows = 500;
    const picture = document.getElementById('picture');
    const drawn = document.getElementById('drawn');
    const whole = drawn.innerHTML;
    let [from, to] = [0, data.span];

    const escaped = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
    const time = (ns) => (data.span >= 1e6 ? `${(ns / 1e6).toFixed(to - from < 1e5 ? 6 : 3)} ms`
      : `${(ns / 1e3).toFixed(3)} us`);
    // Same ticks as in the static picture: 1, 2 or 5 times a power of ten.
    function tickStep(span) {
      for (let power = 1; ; power *= 10) {
        for (const step of [power, 2 * power, 5 * power]) if (span / step < 7) return step;
      }
    }
    function axisText(width, x) {
      const step = tickStep(to - from);
      const [unit, name] = data.span >= 1e6 ? [1e6, 'ms'] : data.span >= 1e3 ? [1e3, 'us'] : [1, 'ns'];
      const digits = Math.max(0, Math.ceil(Math.log10(unit / step)));
      let text = '';
      for (let ns = Math.ceil(from / step) * step; ns <= to; ns += step) {
        const place = x(ns);
        const anchor = place < 24 ? 'start' : place > width - 24 ? 'end' : 'middle';
        text += `<line x1="${place.toFixed(2)}" x2="${place.toFixed(2)}" y1="${axis - 4}" y2="${top}"/>`
          + `<text class="tick" x="${place.toFixed(2)}" y="13" text-anchor="${anchor}">${(ns / unit).toFixed(digits)} ${name}</text>`;
      }
      return text;
    }
    let top = axis;
    for (const lane of data.lanes) {
      lane.top = top;
      top += head + lane.depth * row + gap;
      let begin = 0;
      lane.slices = lane.slices.reduce((all, value, i, flat) => {
        if (i % 4 === 0) {
          begin += value;
          all.push({ begin, end: begin + flat[i + 1], depth: flat[i + 2], name: flat[i + 3] });
        }
        return all;
      }, []);
    }

    function laneText(lane, x) {
      let text = `<text class="lane" x="2" y="${lane.top + 13}">${escaped(lane.name)}</text>`;
      const filled = new Map();
      for (const slice of lane.slices) {
        if (slice.begin > to) break;
        if (slice.end < from) continue;
        const left = Math.max(x(slice.begin), -2);
        const right = Math.min(x(slice.end), svg.clientWidth + 2);
        const width = Math.max(right - left, 0.5);
        const y = lane.top + head + slice.depth * row;
        const colour = data.colours[slice.name];
        // Slices of one colour within one pixel are drawn once.
        const place = `${slice.depth} ${colour}`;
        if (width <= 1 && left + width <= (filled.get(place) ?? -Infinity)) continue;
        filled.set(place, left + Math.max(width, 1));
        text += `<rect class="c${colour}" x="${left.toFixed(2)}" y="${y}" width="${width.toFixed(2)}" height="${bar}"/>`;
        if (width < 24) continue;
        text += `<svg x="${left.toFixed(2)}" y="${y}" width="${width.toFixed(2)}" height="${bar}"><text class="on" x="3" y="12">${escaped(data.names[slice.name])}</text></svg>`;
      }
      return text;
    }

    function arrowText(x) {
      let text = '';
      let count = 0;
      const middle = (lane) => data.lanes[lane].top + head + bar / 2;
      for (let i = 0; i < data.arrows.length && count < mostArrows; i += 4) {
        const [lane, begin, other, end] = data.arrows.slice(i, i + 4);
        if (Math.max(begin, end) < from || Math.min(begin, end) > to) continue;
        text += `<line class="arrow" x1="${x(begin).toFixed(2)}" y1="${middle(lane)}" x2="${x(end).toFixed(2)}" y2="${middle(other)}"/>`
          + `<circle class="arrow" cx="${x(end).toFixed(2)}" cy="${middle(other)}" r="2.5"/>`;
        ++count;
      }
      return text;
    }

    function draw() {
      if (from === 0 && to === data.span) {
        drawn.innerHTML = whole;  // the static picture
        return;
      }
      const width = svg.clientWidth;
      const x = (ns) => (ns - from) / (to - from) * width;
      let text = axisText(width, x);
      for (const lane of data.lanes) text += laneText(lane, x);
      drawn.innerHTML = text + arrowText(x);
    }

    function show(begin, end) {
      const length = Math.min(Math.max(end - begin, Math.min(100, data.span)), data.span);
      from = Math.min(Math.max(begin, 0), data.span - length);
      to = from + length;
      draw();
    }
    // `at` is the fixed point, as a fraction of the width.
    const zoom = (factor, at = 0.5) => {
      const middle = from + (to - from) * at;
      show(middle - (middle - from) * factor, middle + (to - middle) * factor);
    };
    const move = (part) => show(from + (to - from) * part, to + (to - from) * part);
    const actions = {
      '+': () => zoom(0.5), '-': () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25),
      0: () => show(0, data.span),
    };

    const panel = document.getElementById('zoom');
    const said = document.createElement('output');
    const { in: nearer, out: farther, left, right, whole: everything } = panel.dataset;
    for (const [label, key, meaning] of [['+', '+', nearer], ['−', '-', farther],
      ['←', 'ArrowLeft', left], ['→', 'ArrowRight', right], ['100 %', '0', everything]]) {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = label;
      button.title = meaning;
      button.setAttribute('aria-label', meaning);
      button.dataset.key = key;
      button.addEventListener('click', actions[key]);
      panel.append(button);
    }
    panel.append(said);
    panel.hidden = false;
    const under = document.getElementById('under');
    if (under) under.hidden = false;
    picture.tabIndex = 0;
    picture.setAttribute('role', 'group');
    picture.setAttribute('aria-label', panel.getAttribute('aria-label'));
    picture.addEventListener('keydown', (event) => {
      const action = actions[event.key === '=' ? '+' : event.key];
      if (!action || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      action();
    });
    const part = (event) => {
      const box = svg.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, event.clientY - box.top];
    };
    svg.addEventListener('wheel', (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      zoom(event.deltaY > 0 ? 1.25 : 0.8, part(event)[0]);
    }, { passive: false });

    let dragged = null;
    svg.addEventListener('pointerdown', (event) => { dragged = [part(event)[0], from, to]; });
    addEventListener('pointerup', () => { dragged = null; });
    svg.addEventListener('pointermove', (event) => {
      const [at, y] = part(event);
      if (dragged && event.buttons) {
        const shift = (dragged[0] - at) * (dragged[2] - dragged[1]);
        return show(dragged[1] + shift, dragged[2] + shift);
      }
      const ns = from + (to - from) * at;
      const lane = data.lanes.find((one) => y >= one.top && y < one.top + head + one.depth * row + gap);
      const depth = lane ? Math.floor((y - lane.top - head) / row) : -1;
      const near = (to - from) / svg.clientWidth;
      const slice = lane?.slices.find((one) => one.depth === depth && one.begin - near <= ns && ns <= one.end + near);
      said.textContent = '';
      if (!slice) return;
      const name = document.createElement('bdi');
      name.textContent = data.names[slice.name];
      said.append(name, `: ${(slice.end - slice.begin) / 1000} us, ${time(slice.begin)}`);
    });
    addEventListener('resize', draw);
    addEventListener('beforeprint', () => { drawn.innerHTML = whole; });
    addEventListener('afterprint', draw);
  }
}
