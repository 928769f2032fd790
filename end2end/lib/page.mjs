// Small helpers for pages: the stream is live, rows are selected.

// The wasm has taken over and the stream shows what is now.
export async function isLive(page) {
  await page.locator('.live').filter({ hasText: 'live' }).waitFor({ timeout: 60_000 });
}

// Selects the first rows of the table: the first by its box, the rest by Shift.
export async function selectFirst(page, count) {
  const boxes = page.locator('tbody').getByRole('checkbox');
  await boxes.first().waitFor();
  await boxes.first().click();
  await boxes.nth(count - 1).scrollIntoViewIfNeeded();
  await boxes.nth(count - 1).click({ modifiers: ['Shift'] });
  await page.locator('.selbar').filter({ hasText: `${count} selected` }).waitFor();
}

// Nothing reaches out of the window sideways.
export async function fitsSideways(page) {
  const [inner, wide] = await page.evaluate(() => [innerWidth, document.documentElement.scrollWidth]);
  if (wide > inner) throw new Error(`${page.url()} is ${wide} px wide in a window of ${inner} px`);
}
