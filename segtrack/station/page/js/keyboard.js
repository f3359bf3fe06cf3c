/** Labels of keys, as the operator's keyboard has them printed: a code names a place, whatever letter is there. */

import { reactive } from "vue";
import { t } from "./language.js";

const ARROWS = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→" };
const NAMED = { Space: "Space", Enter: "Enter" };
const printed = reactive(new Map());

/** Ask the browser for its layout, as far as it tells, and learn from each key that is pressed. */
export function learnLayout() {
  navigator.keyboard?.getLayoutMap?.().then((layout) => layout.forEach((key, code) => printed.set(code, key)));
  addEventListener("keydown", ({ code, key, shiftKey, altKey, ctrlKey }) => {
    if (/^Key[A-Z]$/.test(code) && key.length === 1 && !shiftKey && !altKey && !ctrlKey) printed.set(code, key);
  });
}

/** What is printed on the key of a `KeyboardEvent.code`. */
export function labelOf(code) {
  if (code in ARROWS) return ARROWS[code];
  if (code in NAMED) return t(NAMED[code]);
  return (printed.get(code) ?? code.replace(/^Key/, "")).toUpperCase();
}
