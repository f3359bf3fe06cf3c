/** What the operator holds down: keys, a gamepad, touch sticks. What it means is decided by the station. */

import { takeFocus } from "./focus.js";
import { Pad } from "./pad.js";
import { ptzOrder } from "./ptz.js";

const PERIOD = 20; // [ms]
const MAX_KEYS = 16;
const NOTHING = new Set();
const STOP = "Space"; // Stops for who does not drive; a driver's keys are mapped by the station.
export const SOUND_KEY = "KeyM"; // The page's own, as no action of the vehicle is
const TYPED_INTO = "input, textarea, select, [contenteditable], [role=listbox], [role=slider]";
const SCROLLING = /^(Arrow|Page|Home|End|Space)/;

export class Inputs {
  /**
   * @param {(controls: object) => void} send Called 50 times a second, and at once when a key changes.
   * @param {(reasons: object) => void} tell Called with {hidden, blurred, padLost, pad}, the last its name, when one
   *   changes.
   * @param {() => boolean} mayStop Whether the client may stop what another one drives.
   * @param {() => void} onSound Called when the key that turns sound on and off is pressed.
   * @param {(order: object) => void} onCamera Called with what is asked of the pan-tilt-zoom camera, 50 times a second.
   */
  constructor(send, tell, mayStop, onSound, onCamera) {
    Object.assign(this, { send, tell, mayStop, onSound, onCamera, active: false, seq: 0, keys: new Set(), pad: new Pad() });
    this.touch = [0, 0, 0, 0];
    this.fingers = [false, false];
    this.flippers = []; // Names of those that the touch stick moves; all if there are none
    this.since = 0;
    this.delay = null; // From controls to the picture of what they did, as it was drawn last [ms]
    this.told = "";
    const on = (target, names, handler) => {
      for (const name of names) target.addEventListener(name, handler, { signal: this.listening.signal });
    };
    this.listening = new AbortController();
    on(window, ["keydown"], (event) => this.keyDown(event));
    on(window, ["keydown"], (event) => {
      if (event.code === SOUND_KEY && !event.repeat && !isTypedInto(event.target) && !event.ctrlKey) this.onSound();
    });
    on(window, ["keyup"], (event) => this.keyUp(event));
    takeFocus(this.listening.signal);
    on(window, ["blur", "focus", "pagehide"], () => this.neutral());
    on(document, ["visibilitychange"], () => this.neutral());
    on(document, ["focusin"], ({ target }) => isTypedInto(target) && this.neutral());
    on(window, ["gamepaddisconnected"], () => this.tick());
    this.timer = setInterval(() => this.tick(), PERIOD);
  }

  /** Begin or end to send; what is held at that moment has to be let go and pressed anew. */
  activate(active) {
    this.active = active;
    this.since = performance.now(); // What came before is another driver's, by another clock.
    this.neutral();
  }

  keyDown(event) {
    if (isWithMeta(event)) return this.neutral();
    if (isTypedInto(event.target) || event.ctrlKey || event.altKey) return;
    if (SCROLLING.test(event.code)) event.preventDefault();
    if (event.repeat || !event.code || this.keys.size >= MAX_KEYS) return;
    if (event.code === STOP && !this.active && this.mayStop()) this.send({ type: "e_stop", on: true });
    this.keys.add(event.code);
    this.pad.lost = false;
    this.tick();
  }

  keyUp(event) {
    if (isWithMeta(event)) return this.neutral();
    if (SCROLLING.test(event.code) && !isTypedInto(event.target)) event.preventDefault();
    if (this.keys.delete(event.code)) this.tick();
  }

  /** Let go of everything: the page lost the focus, or is hidden, or somebody types. */
  neutral() {
    this.keys.clear();
    this.touch.fill(0);
    this.fingers.fill(false);
    this.pad.wait();
    this.tick();
  }

  /** Set a touch stick, 0 left or 1 right, to x and y, right and down positive; whether a finger holds it. */
  setStick(stick, x, y, held) {
    this.fingers[stick] = held;
    this.touch[2 * stick] = x;
    this.touch[2 * stick + 1] = y;
    this.pad.lost = false;
  }

  get seen() {
    return document.visibilityState === "visible" && document.hasFocus();
  }

  tick() {
    const { pad, seen } = this;
    pad.poll();
    const hidden = document.visibilityState !== "visible";
    const reasons = { hidden, blurred: !seen, padLost: pad.lost, pad: pad.name };
    const told = JSON.stringify(reasons);
    if (told !== this.told) this.tell(reasons);
    this.told = told;
    if (this.active) this.send(this.controls());
    this.onCamera(ptzOrder(seen ? this.keys : NOTHING, seen ? pad.buttons : []));
  }

  /** The message of now; neutral while the page is not seen. */
  controls() {
    const { seen, pad } = this;
    return {
      type: "controls",
      seq: ++this.seq,
      time: performance.now(),
      axes: seen ? pad.axes : pad.axes.map(() => 0),
      buttons: seen ? pad.buttons : pad.buttons.map(() => false),
      keys: seen ? [...this.keys] : [],
      touch: seen ? [...this.touch] : [0, 0, 0, 0],
      dead_man: seen && this.fingers.includes(true),
      touch_flippers: this.flippers,
      visible: seen,
      delay: this.delay,
    };
  }

  close() {
    clearInterval(this.timer);
    this.listening.abort();
  }
}

/** Whether the command key is held: macOS then tells of no other key's release. */
const isWithMeta = ({ metaKey, code }) => metaKey || /^Meta/.test(code);

function isTypedInto(target) {
  return target instanceof Element && target.closest(TYPED_INTO) !== null;
}
