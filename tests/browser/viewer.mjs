// Opens a timeline in the viewer of chrome://tracing and reads the imported model.

// Runs in the page: returns the facts of the imported model as plain data.
function factsOfModel() {
  const { model } = document.querySelector('x-profiling-view').timelineView;
  const counted = (map, key) => map.set(key, (map.get(key) ?? 0) + 1);
  const warnings = new Map();
  for (const { type, message } of model.importWarnings) {
    counted(warnings, `${type}: ${message.replace(/\d[\d.]*/g, '#')}`);
  }
  const processes = Object.values(model.processes).map((process) => ({
    pid: process.pid,
    name: process.name ?? '',
    labels: process.labels ?? [],
    sortIndex: process.sortIndex,
    threads: Object.values(process.threads).map((thread) => ({
      tid: thread.tid,
      name: thread.name ?? '',
      sortIndex: thread.sortIndex,
      slices: thread.sliceGroup.length,
    })),
    counterSamples: Object.values(process.counters)
      .flatMap((counter) => counter.series.map((series) => series.samples.length))
      .reduce((sum, samples) => sum + samples, 0),
  }));
  return {
    processes,
    arrows: model.flowEvents.length,
    warnings: model.importWarnings.length,
    warningKinds: [...warnings].sort((a, b) => b[1] - a[1]),
  };
}

// Opens a page with the file that the server offers at `path`; `isGzip` is what the viewer's own
// Load button would pass. Adds errors of the page to `errors`. Throws with the viewer's message if
// it cannot read the file.
export async function loadInViewer(browser, server, path, isGzip, errors = []) {
  const page = await browser.newPage();
  page.on('pageerror', (error) => errors.push(error.message));
  await page.goto(`${server.url}/viewer/catapult_trace_viewer.html`);
  await page.waitForFunction(() => document.querySelector('x-profiling-view')?.timelineView);
  await page.evaluate(async ([from, gzip]) => {
    const response = await fetch(from);
    const data = gzip ? await response.arrayBuffer() : await response.text();
    tr.ui.b.Overlay.showError = (text, error) => { window.shownError = `${text} ${error ?? ''}`; };
    document.querySelector('x-profiling-view').setActiveTrace(gzip ? 'a.json.gz' : 'a.json', data);
  }, [path, isGzip]);
  const outcome = await page.waitForFunction(() => {
    if (window.shownError) return window.shownError;
    return document.querySelector('x-profiling-view').timelineView.model && 'read';
  });
  const said = await outcome.jsonValue();
  if (said !== 'read') throw new Error(`the viewer says: ${said.trim().slice(0, 400)}`);
  return page;
}

// Returns the contents of the viewer's model and the errors of its page; saves a picture if
// `screenshot` is set.
export async function openInViewer(browser, server, path, isGzip, screenshot) {
  const errors = [];
  const page = await loadInViewer(browser, server, path, isGzip, errors);
  await page.waitForTimeout(1500);
  if (screenshot) await page.screenshot({ path: screenshot });
  const facts = await page.evaluate(factsOfModel);
  await page.close();
  return { ...facts, errors };
}
