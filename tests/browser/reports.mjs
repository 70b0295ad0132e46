// Checks for every page that is opened from disk, and the loop over the pages on the command line.
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

// Opens a page in light and dark, on a desktop and a phone. Saves a screenshot
// `NAME_light_desktop.png` of each and checks the contrast, the width, and that the console and the
// network are silent. `use(page, colorScheme, device)` performs further checks.
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

// Opens a page with scripts disabled; `use(page)` checks it.
export async function checkPlain(browser, file, use) {
  const plain = await openReport(browser, file, { javaScriptEnabled: false, viewport: sizes.desktop });
  await use(plain.page);
  await plain.context.close();
}

// Calls checkPage(browser, file, wanted, pictures) for each page on the command line, `--pictures
// FOLDER PAGE.html WANTED.json …`. `what` names the pages in the last line of output. Sets the exit
// code.
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
