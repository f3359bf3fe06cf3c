/** The instruments below the picture: attitude, side view, belts, and numbers. */

import { THREE } from "nicegui-scene";
import { nameOf, number, t } from "./language.js";
import { FLAG } from "./state.js";

const SIDES = ["left", "right"];

const PIXELS = 1.2; // Of the ball a degree of pitch
const STEEP = { amber: 25, red: 40 }; // Tilt that is told, and that is a danger [degrees]
const SLIPS = { share: 0.5, commanded: 0.05, after: 0.5 }; // Slip that is told [-], of belts so fast [m/s], so long [s]

/** Lines of equal pitch with their degrees. */
function ladder() {
  const lines = [10, 20, 30, 40, 60].flatMap((pitch) =>
    [pitch, -pitch].map((angle) => {
      const [y, wide] = [-PIXELS * angle, pitch % 20 ? 10 : 16];
      const number = `<text class="st-degrees" x="${wide + 3}" y="${y + 3.5}">${pitch}</text>`;
      return `<path class="st-ladder" d="M${-wide} ${y}H${wide}"/>${number}`;
    }),
  );
  return `<path class="st-ladder" d="M-160 0H160"/>${lines.join("")}`;
}

/** Marks of roll around the ball, which the pointer runs along. */
function scale() {
  const marks = [0, 10, 20, 30, 45, 60].flatMap((roll) => (roll ? [roll, -roll] : [0]));
  return marks
    .map((roll) => `<path class="st-mark" transform="rotate(${roll})" d="M0-49V${roll % 30 ? -54 : -59}"/>`)
    .join("");
}

export const HUD = `
  <div class="st-hud" role="region" :aria-label="t('instruments')">
    <figure class="st-attitude"><svg viewBox="-62 -62 124 124" aria-hidden="true">
      <clipPath id="st-round"><circle r="48"/></clipPath>
      <g clip-path="url(#st-round)"><g data-hud="horizon">
        <rect class="st-sky" x="-160" y="-240" width="320" height="240"/>
        <rect class="st-earth" x="-160" y="0" width="320" height="240"/>
        ${ladder()}
      </g></g>
      ${scale()}
      <circle class="st-rim" r="48" data-hud="rim"/><path class="st-wings" d="M-34 0H-13L0 8L13 0H34"/>
      <path class="st-pointer" data-hud="pointer" d="M0-47L-5-38H5Z"/>
    </svg><figcaption><span data-hud="pitch"></span><span data-hud="roll"></span></figcaption>
      <strong class="st-warning" role="alert" data-hud="warning"></strong></figure>
    <figure class="st-side"><svg viewBox="-66 -56 132 112" aria-hidden="true"><g data-hud="side"></g></svg>
      <figcaption data-hud="flippers"></figcaption></figure>
    <table class="st-belts"><thead><tr><th></th><th>{{ t('left') }}</th><th>{{ t('right') }}</th></tr></thead><tbody>
      <tr><th>{{ t('force') }}</th><td data-hud="force-left"></td><td data-hud="force-right"></td></tr>
      <tr><th>{{ t('speed') }}</th><td data-hud="speed-left"></td><td data-hud="speed-right"></td></tr>
      <tr><th>{{ t('asked') }}</th><td data-hud="command-left"></td><td data-hud="command-right"></td></tr>
      <tr><th>{{ t('slip') }}</th><td data-hud="slip-left"></td><td data-hud="slip-right"></td></tr>
    </tbody></table>
    <dl class="st-numbers">
      <div><dt>{{ t('time') }}</dt><dd data-hud="time"></dd></div>
      <div><dt>{{ t('score') }}</dt><dd data-hud="score"></dd></div>
      <div><dt>{{ t('failures') }}</dt><dd data-hud="failures"></dd></div>
      <div><dt>{{ t('trial') }}</dt><dd data-hud="trial"></dd></div>
      <div><dt>{{ t('energy') }}</dt><dd data-hud="energy"></dd></div>
      <div><dt data-hud="delay-name"></dt><dd data-hud="delay"></dd></div>
      <div><dt>{{ t('real time') }}</dt><dd data-hud="real-time"></dd></div>
      <div><dt>{{ t('late steps') }}</dt><dd data-hud="late"></dd></div>
    </dl>
  </div>`;

export class Hud {
  /** @param {HTMLElement} element Holds what `HUD` describes. */
  constructor(element) {
    this.parts = Object.fromEntries([...element.querySelectorAll("[data-hud]")].map((part) => [part.dataset.hud, part]));
    this.texts = {};
    this.angles = new THREE.Euler();
    this.frame = new THREE.Matrix4();
    this.inverse = new THREE.Matrix4();
  }

  /** Take a scene: the names of its readings, and the outlines of its vehicle's belts. */
  setScene(readings, vehicle) {
    this.index = indexOf(readings);
    this.vehicle = vehicle;
    this.outlines = vehicle.tracks.map(({ name, path }) => {
      const outline = document.createElementNS("http://www.w3.org/2000/svg", "path");
      outline.setAttribute("d", `M${path.outline().map((point) => point.map((value) => value.toFixed(4))).join("L")}Z`);
      outline.setAttribute("class", sideOf(name) === "right" ? "st-right" : "st-left");
      return outline;
    });
    this.parts.side.replaceChildren(...this.outlines);
    this.scale = null;
  }

  /** Show a state; `extra` has the delay [ms] and its name, and the trial. */
  update(state, extra) {
    this.attitude();
    this.side();
    for (const side of SIDES) this.belts(state.readings, side);
    this.flippers(state.readings);
    this.warn(state);
    this.text("time", clock(state.time));
    this.text("score", extra.trial ? t("{done} of {all}", { done: extra.trial.done, all: extra.trial.repetitions }) : "–");
    this.text("failures", extra.trial ? `${extra.trial.failures}` : "–");
    this.text("trial", clock(state.trialClock));
    this.text("energy", `${number(state.energy / 1000, 2)} kJ`);
    this.text("delay-name", extra.delayName);
    this.text("delay", extra.delay === null ? "–" : `${Math.round(extra.delay)} ms`);
    this.text("real-time", `${number(state.realTimeFactor, 2)} ×`);
    this.text("late", `${number(100 * state.lateShare, 1)} %`);
    this.parts["real-time"].classList.toggle("st-bad", (state.flags & FLAG.slow) !== 0);
    this.parts.late.classList.toggle("st-bad", state.lateShare > 0.001);
  }

  text(name, text) {
    if (this.texts[name] === text) return;
    this.texts[name] = text;
    this.parts[name].textContent = text;
  }

  attitude() {
    this.angles.setFromRotationMatrix(this.vehicle.body, "ZYX");
    const roll = THREE.MathUtils.radToDeg(this.angles.x);
    const pitch = THREE.MathUtils.radToDeg(this.angles.y);
    this.parts.horizon.setAttribute("transform", `rotate(${(-roll).toFixed(1)}) translate(0 ${(-PIXELS * pitch).toFixed(1)})`);
    this.parts.pointer.setAttribute("transform", `rotate(${(-roll).toFixed(1)})`);
    this.tilt = THREE.MathUtils.radToDeg(Math.acos(Math.min(1, this.vehicle.body.elements[10])));
    this.text("pitch", attitude(pitch, "nose down {angle}°", "nose up {angle}°"));
    this.text("roll", attitude(roll, "right {angle}°", "left {angle}°"));
  }

  /** Draw the belts as seen from the right, the front to the right. */
  side() {
    const { frame, inverse } = this;
    inverse.copy(this.vehicle.body).invert();
    this.scale ??= 56 / this.vehicle.reach();
    const pitch = THREE.MathUtils.radToDeg(this.angles.y);
    this.parts.side.setAttribute("transform", `rotate(${pitch.toFixed(1)}) scale(${this.scale.toFixed(2)})`);
    this.outlines.forEach((outline, i) => {
      const { elements } = frame.multiplyMatrices(inverse, this.vehicle.tracks[i].frame.matrixWorld);
      const numbers = [elements[0], -elements[2], elements[8], -elements[10], elements[12], -elements[14]];
      outline.setAttribute("transform", `matrix(${numbers.map((value) => value.toFixed(4)).join(" ")})`);
    });
  }

  /** Tell of a tilt from which the vehicle may fall, or else of belts that slip, in words and on the ball's rim. */
  warn({ readings, time }) {
    const mains = SIDES.map((side) => this.index[side].main).filter(Boolean);
    const slips = mains.some(
      ({ slip, command }) => Math.abs(readings[command]) > SLIPS.commanded && Math.abs(readings[slip]) > SLIPS.share,
    );
    if (!slips) this.slippedSince = Infinity;
    else if (!(this.slippedSince <= time)) this.slippedSince = time;
    const angle = Math.round(this.tilt);
    const kind = this.tilt >= STEEP.red ? "red" : this.tilt >= STEEP.amber ? "amber" : "";
    const words = { red: "Tilt: {angle}°, it may fall", amber: "Tilt: {angle}°" };
    const slipped = time - this.slippedSince >= SLIPS.after ? t("Belts slip") : "";
    this.text("warning", kind ? t(words[kind], { angle }) : slipped);
    this.parts.warning.className = `st-warning ${kind ? `st-${kind}` : slipped && "st-amber"}`;
    this.parts.rim.setAttribute("class", `st-rim ${kind && `st-${kind}`}`);
  }

  belts(readings, side) {
    const { main, all } = this.index[side];
    if (main === undefined) return;
    const force = all.reduce((sum, track) => sum + readings[track.force], 0);
    this.text(`force-${side}`, `${number(force, 0)} N`);
    this.text(`speed-${side}`, `${number(readings[main.speed], 2)} m/s`);
    this.text(`command-${side}`, `${number(readings[main.command], 2)} m/s`);
    this.text(`slip-${side}`, Number.isFinite(readings[main.slip]) ? `${number(100 * readings[main.slip], 0)} %` : "–");
  }

  flippers(readings) {
    const words = Object.entries(this.index.flippers).map(([name, places]) => {
      const angles = places.map((at) => number(THREE.MathUtils.radToDeg(readings[at]), 0));
      return `${nameOf(name)} ${angles.join(" | ")}°`;
    });
    this.text("flippers", words.join(", "));
  }
}

/** Where each side's belts and each flipper are among readings named "left speed [m/s]", "... angle [rad]". */
function indexOf(readings) {
  const index = { flippers: {}, left: { all: [] }, right: { all: [] } };
  const tracks = {};
  readings.forEach((reading, at) => {
    const [name, quantity] = reading.split(" ");
    if (quantity === "angle") (index.flippers[name.split("_")[0]] ??= []).push(at);
    else if (["speed", "command", "force", "slip"].includes(quantity)) (tracks[name] ??= {})[quantity] = at;
  });
  for (const [name, track] of Object.entries(tracks)) index[sideOf(name)].all.push(track);
  for (const side of SIDES) index[side].main = index[side].all[0];
  return index;
}

const sideOf = (name) => (name.includes("right") ? "right" : "left");

/** An angle [deg] in words: those for a positive one, or for any other. */
const attitude = (angle, positive, negative) =>
  t(angle > 0 ? positive : negative, { angle: Math.abs(Math.round(angle)) });

/** Seconds as minutes and seconds. */
export function clock(seconds) {
  const tenths = Math.floor(10 * seconds + 1e-6);
  const rest = tenths % 600;
  return `${Math.floor(tenths / 600)}:${String(Math.floor(rest / 10)).padStart(2, "0")}.${rest % 10}`;
}
