// A timeline in the viewer of chrome://tracing: what its model holds once it is imported.

// Runs in the page: the facts of the imported model, plain data.
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

// A page with what the server offers at `path`; `isGzip` as the viewer's own Load button tells it.
// Errors of the page are added to `errors`. Throws with the viewer's words when it cannot read it.
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

// What the viewer's model holds of it, and the errors of its page; with a picture where `screenshot` names one.
export async function openInViewer(browser, server, path, isGzip, screenshot) {
  const errors = [];
  const page = await loadInViewer(browser, server, path, isGzip, errors);
  await page.waitForTimeout(1500);
  if (screenshot) await page.screenshot({ path: screenshot });
  const facts = await page.evaluate(factsOfModel);
  await page.close();
  return { ...facts, errors };
}
