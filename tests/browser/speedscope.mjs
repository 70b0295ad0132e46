// A timeline in speedscope: how many profiles (a thread each) it makes of it.

// Throws with what speedscope says when it cannot read `file`.
export async function openInSpeedscope(browser, server, file, screenshot) {
  const page = await browser.newPage();
  const said = [];
  page.on('dialog', (dialog) => { said.push(dialog.message()); dialog.dismiss(); });
  page.on('pageerror', (error) => said.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || /Failed to load/.test(message.text())) {
      said.push(message.text());
    }
  });
  try {
    await page.goto(`${server.url}/speedscope/index.html`);
    await page.setInputFiles('#file', file);
    await page.waitForFunction(() => / - speedscope$/.test(document.title)
      || /Something went wrong/.test(document.body.innerText)
      || window.stopWaiting, undefined, { polling: 200 });
    await page.waitForTimeout(1000);
    const text = await page.evaluate(() => document.body.innerText);
    const title = await page.title();
    if (/Something went wrong/.test(text)) throw new Error(said.join('; ') || 'no reason given');
    if (screenshot) await page.screenshot({ path: screenshot });
    // The bar says "name (2/7)"; for a single profile only its name.
    const count = text.match(/\((\d+)\/(\d+)\)/);
    return { profiles: count ? Number(count[2]) : 1, title, said };
  } finally {
    await page.close();
  }
}
