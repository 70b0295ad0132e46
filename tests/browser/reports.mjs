// What every page that is opened from disk is checked for, and the loop over pages of a command
// line. For cluster.mjs and compare.mjs.
import { mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { contrastsOf } from './contrast.mjs';
import { launchBrowser, openReport } from './pages.mjs';

let failures = 0;
export function check(holds, what) {
  if (!holds) ++failures;
  console.log(`  ${holds ? 'ok    ' : 'FAILED'} ${what}`);
}

const sizes = { desktop: { width: 1280, height: 900 }, phone: { width: 390, height: 844 } };

// Opens a page in light and dark, on a desktop and a phone: a picture `NAME_light_desktop.png` of
// each, its contrasts, its width, and nothing in the console and from the network.
// `use(page, colorScheme, device)` is what its reader does.
export async function checkLooks(browser, file, pictures, name, use) {
  for (const colorScheme of ['light', 'dark']) {
    for (const [device, viewport] of Object.entries(sizes)) {
      const report = await openReport(browser, file, { colorScheme, viewport });
      const { page } = report;
      const where = `${colorScheme}, ${device}`;
      await page.screenshot({ path: join(pictures, `${name}_${colorScheme}_${device}.png`), fullPage: true });
      const contrasts = await contrastsOf(page);
      check(contrasts.texts > 50 && contrasts.least.ratio >= 4.5,
        `${where}: contrast of ${contrasts.texts} texts is ${contrasts.least.ratio.toFixed(2)} or more (${contrasts.least.text})`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(wide <= 0, `${where}: the page is as wide as the window`);
      await use(page, colorScheme, device);
      check(report.complaints.length === 0, `${where}: nothing in the console ${report.complaints.join('; ')}`);
      check(report.requests.length === 1, `${where}: no request but for the file ${report.requests.slice(1).join(' ')}`);
      await report.context.close();
    }
  }
}

// Opens a page without its script: `use(page)` is what its reader sees.
export async function checkPlain(browser, file, use) {
  const plain = await openReport(browser, file, { javaScriptEnabled: false, viewport: sizes.desktop });
  await use(plain.page);
  await plain.context.close();
}

// `--pictures FOLDER PAGE.html WANTED.json …` of the command line: checkPage(browser, file, wanted,
// pictures) for each page. `what`: the pages, for the last line. Sets the exit code.
export async function checkPages(what, checkPage) {
  const words = process.argv.slice(2);
  const pictures = words[0] === '--pictures' ? words.splice(0, 2)[1] : '.';
  mkdirSync(pictures, { recursive: true });
  const browser = await launchBrowser();
  try {
    while (words.length > 0) {
      const [file, json] = words.splice(0, 2).map((word) => resolve(word));
      console.log(file);
      try {
        await checkPage(browser, file, JSON.parse(readFileSync(json)), pictures);
      } catch (error) {
        check(false, `${file}: ${error.message}`);
      }
    }
  } finally {
    await browser.close();
  }
  console.log(failures === 0 ? `${what}: everything as it should be` : `${failures} checks FAILED`);
  process.exitCode = failures === 0 ? 0 : 1;
}
