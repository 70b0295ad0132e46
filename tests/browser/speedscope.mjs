// Opens a timeline in speedscope and counts the profiles (one per thread).

// Throws with speedscope's message if it cannot read `file`.
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
    // The title bar shows "name (2/7)", or only the name if there is a single profile.
    const count = text.match(/\((\d+)\/(\d+)\)/);
    return { profiles: count ? Number(count[2]) : 1, title, said };
  } finally {
    await page.close();
  }
}
