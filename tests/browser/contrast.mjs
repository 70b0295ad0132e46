// Contrast between the texts of a page and their backgrounds (WCAG 2, 1.4.3).

// The number of texts on the page, and the one with the lowest contrast.
export const contrastsOf = (page) => page.evaluate(() => {
  const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
  const luminance = (colour) => {
    const [r, g, b] = parts(colour).slice(0, 3).map((part) => {
      const value = part / 255;
      return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const isSolid = (colour) => parts(colour)[3] !== 0;
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (isSolid(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  let texts = 0;
  let least = { ratio: Infinity, text: '' };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (text === '' || element.tagName === 'SCRIPT' || element.getClientRects().length === 0) continue;
    ++texts;
    const light = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((a, b) => b - a);
    const ratio = (light[0] + 0.05) / (light[1] + 0.05);
    if (ratio < least.ratio) least = { ratio, text };
  }
  return { texts, least };
});
