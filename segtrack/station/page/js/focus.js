/** The focus, taken from what was clicked, entered or left: keys drive again, and Space is the emergency stop. */

const PRESSED = "button, [role=tab], [role=option]";
const BEGUN_BY_CLICK = "input, textarea, select, .q-field, .q-menu, .st-entry"; // What is typed or chosen there
const WRITTEN_INTO = "input:not([role=combobox]), textarea";
const INPUT_METHOD = 229; // Code of a key that an input method takes, as that for Japanese (UI Events, section 7.3.1)

/** Begin to take it, until a signal. */
export function takeFocus(signal) {
  let pressedIn = null; // Where the pointer went down: who marks text may let go elsewhere
  let isComposing = false;
  const on = (name, handler) => document.addEventListener(name, handler, { signal, capture: true }); // A menu stops Escape
  on("pointerdown", ({ target }) => (pressedIn = target));
  on("click", ({ target, detail }) => {
    const from = detail ? pressedIn : null; // Programs click without a pointer
    const begins = [target, from].some((each) => each?.closest(BEGUN_BY_CLICK));
    if (target.closest(PRESSED) || !begins) blurSoon();
  });
  on("keydown", (event) => (isComposing = event.isComposing || event.keyCode === INPUT_METHOD));
  on("keyup", ({ target, code }) => {
    const entered = code === "Enter" && target.closest("input:not([aria-expanded=true])");
    if (!isComposing && (entered || code === "Escape")) blurSoon();
  });
}

/** A field that somebody has gone on to meanwhile, while a busy browser did other things, keeps it. */
function blurSoon() {
  const before = document.activeElement;
  setTimeout(() => {
    const now = document.activeElement;
    if (now === before || !now.matches(WRITTEN_INTO)) now.blur();
  });
}
