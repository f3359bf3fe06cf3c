"""What is wrong with the words on a page: too faint, cut off, outside, or overlapping.

Contrast is that of WCAG 2: 4.5 to 1, and 3 to 1 where something is disabled.
"""

LAYOUT = """() => {
  const DISABLED = "[disabled], .disabled, .q-field--disabled";
  const seen = (element) => element.checkVisibility() && element.getBoundingClientRect().width > 0;
  const texts = [...document.querySelectorAll(".st-station *")].filter((element) => seen(element) &&
    (element.matches("input[disabled]") ||
      [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())));
  const rgb = (words) => words.match(/[\\d.]+/g).map(Number);
  const linear = (value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  const light = (colour) => [0.2126, 0.7152, 0.0722]
    .reduce((sum, share, i) => sum + share * linear(colour[i] / 255), 0);
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] > 0.5) return colour;
    }
    return [255, 255, 255];
  };
  const panel = rgb(getComputedStyle(document.querySelector(".st-top")).backgroundColor);
  const opacity = (element) =>
    element ? getComputedStyle(element).opacity * opacity(element.parentElement) : 1;
  const contrast = (element) => {
    const share = opacity(element);
    const mixed = (colour) => panel.map((value, i) => share * colour[i] + (1 - share) * value);
    const [a, b] = [rgb(getComputedStyle(element).color), behind(element)].map(mixed).map(light);
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const label = (element) => `${element.className}: ${element.textContent.trim().slice(0, 30)}`;
  const boxes = [".st-top", ".st-scene", ".st-hud"]
    .map((name) => document.querySelector(name).getBoundingClientRect());
  return {
    faint: texts.filter((element) => contrast(element) < (element.closest(DISABLED) ? 3 : 4.5)).map(label),
    cut: texts.filter((element) => element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0 &&
      getComputedStyle(element).display !== "inline").map(label),
    outside: texts.filter((element) => {
      const box = element.getBoundingClientRect();
      const below = box.bottom > innerHeight + 1 && !element.closest(".st-panel");
      return box.right > innerWidth + 1 || box.left < -1 || below;
    }).map(label),
    overlaps: boxes.some((box, i) => i > 0 && box.top < boxes[i - 1].bottom - 1),
  };
}"""
