/** A gamepad: what it holds down, and whether the one in use is gone. */

import { keptMap, mapped } from "./padmap.js";

const AXES = 4;
const BUTTONS = 17;
const REST = 0.15; // A stick nearer to its middle is let go.

export class Pad {
  constructor() {
    Object.assign(this, { pad: null, lost: false, map: null, mapping: false, waits: Array(AXES + BUTTONS).fill(false) });
    this.poll();
  }

  get name() {
    return this.pad?.id.split("(")[0].trim() ?? "";
  }

  /** Let go of everything: each stick and button acts again once it was at rest. */
  wait() {
    if (this.pad) this.waits.fill(true);
  }

  /** Begin or end to map it: meanwhile it holds nothing, and from then on it has the map that was kept. */
  isMapped(mapping) {
    this.mapping = mapping;
    this.map = this.pad && keptMap(this.pad);
    this.wait();
  }

  /** Read it anew: the browser tells nothing between two reads. */
  poll() {
    const pads = Array.from(navigator.getGamepads?.() ?? []).filter((pad) => pad?.connected);
    const same = pads.find(({ id, index }) => id === this.pad?.id && index === this.pad.index);
    if (this.pad && !same) {
      this.lost = true;
      this.wait();
    }
    const choices = same ? [same, ...pads] : pads;
    const before = this.pad?.id;
    this.pad = choices.find(({ mapping }) => mapping === "standard") ?? choices[0] ?? null;
    if (this.pad?.id !== before) this.map = this.pad && keptMap(this.pad);
    const held = this.holds();
    if (this.pad) this.waits = this.waits.map((waits, i) => waits && Math.abs(held[i]) >= REST);
    const acting = held.map((value, i) => (this.waits[i] ? 0 : value));
    this.axes = acting.slice(0, AXES);
    this.buttons = acting.slice(AXES).map(Boolean);
    if (this.buttons.includes(true)) this.lost = false;
  }

  /** What it holds in the standard layout: four axes, then the buttons, 0 or 1. */
  holds() {
    const { pad, map } = this;
    if (!pad || this.mapping) return Array(AXES + BUTTONS).fill(0);
    if (map) {
      const { axes, buttons } = mapped(pad, map);
      return [...axes.map(clip), ...buttons];
    }
    const held = Array.from({ length: AXES }, (_, i) => clip(pad.axes[i] ?? 0));
    for (let i = 0; i < BUTTONS; i++) held.push(pad.buttons[i]?.pressed ? 1 : 0);
    return held;
  }
}

const clip = (value) => (Number.isFinite(value) ? Math.max(-1, Math.min(1, value)) : 0);
