/** Sounds of the drive: motors by belt speed and force, slip, impacts, and the emergency stop; and a pad's rumble. */

import { FLAG } from "./state.js";

const HUM = { base: 45, span: 130, loudest: 0.09 }; // Pitch at rest and at 1 m/s more [Hz]; loudness [-]
const SLIP = { from: 0.3, loudest: 0.07 }; // Slip from which it is heard [-]
const JOLT = 6; // Acceleration from which an impact is heard; four times as much is loudest [m/s2]
const PAUSE = 0.15; // Between two impacts [s]
const FADE = 0.05; // [s]
const SPAN = 0.1; // Longest time between states that belong together [s]

/** What is heard of two states after another: loudness of hum, slip and impact, 0 to 1, and the pitch [Hz]. */
export function heardOf(state, before, index) {
  const { readings, flags } = state;
  const silent = { hum: 0, pitch: HUM.base, slip: 0, impact: 0, velocity: null };
  if (flags & (FLAG.eStop | FLAG.replay) || state.realTimeFactor === 0) return silent;
  const belts = ["left", "right"].flatMap((side) => index[side].all);
  const speed = Math.max(0, ...belts.map((belt) => Math.abs(readings[belt.speed])));
  const force = belts.reduce((sum, belt) => sum + Math.abs(readings[belt.force]), 0);
  const slips = belts.map((belt) => (Math.abs(readings[belt.command]) > 0.05 ? Math.abs(readings[belt.slip]) || 0 : 0));
  const slip = Math.min(1, Math.max(0, (Math.max(0, ...slips) - SLIP.from) / (1 - SLIP.from)));
  const hum = speed > 0.01 ? Math.min(1, 0.35 + force / 600) : 0;
  const heard = { ...silent, hum, pitch: HUM.base + HUM.span * speed, slip };
  const span = before ? state.time - before.time : 0;
  if (!before || before.scene !== state.scene || span <= 0 || span > SPAN) return heard;
  const velocity = [0, 1, 2].map((axis) => (state.pose[axis] - before.pose[axis]) / span);
  const old = before.heard?.velocity;
  const jolt = old ? Math.hypot(...velocity.map((value, axis) => value - old[axis])) / span : 0;
  return { ...heard, velocity, impact: jolt > JOLT ? Math.min(1, jolt / (4 * JOLT)) : 0 };
}

export class Sound {
  /** @param {() => object} pad Returns the gamepad in use, or null. */
  constructor(pad) {
    Object.assign(this, { pad, on: localStorage.getItem("segtrack-sound") !== "off", before: null, last: -Infinity });
  }

  /** Turn it on or off; a browser lets a page sound only after a click or a key. */
  toggle() {
    this.on = !this.on;
    localStorage.setItem("segtrack-sound", this.on ? "on" : "off");
    if (!this.on) this.hush();
    return this.on;
  }

  /** Let a state be heard; nothing while the page is hidden, or was never touched. */
  hear(state, index) {
    const heard = heardOf(state, this.before, index);
    this.before = { scene: state.scene, time: state.time, pose: state.pose, heard };
    if (!this.on || document.visibilityState !== "visible" || !navigator.userActivation?.hasBeenActive) return this.hush();
    this.begin();
    const now = this.context.currentTime;
    this.motor.frequency.setTargetAtTime(heard.pitch, now, FADE);
    this.hum.gain.setTargetAtTime(HUM.loudest * heard.hum, now, FADE);
    this.scrape.gain.setTargetAtTime(SLIP.loudest * heard.slip, now, FADE);
    if (heard.impact && state.time - this.last > PAUSE) this.thump(heard.impact, state.time);
    if (heard.slip > 0.5) this.rumble(0, 0.3 * heard.slip, 60);
  }

  /** Fall silent: the page is hidden, the connection lost. */
  hush() {
    if (!this.context) return;
    for (const gain of [this.hum, this.scrape]) gain.gain.setTargetAtTime(0, this.context.currentTime, FADE);
  }

  begin() {
    if (this.context) return;
    const context = (this.context = new AudioContext());
    const through = (source, frequency) => {
      const filter = new BiquadFilterNode(context, { type: "lowpass", frequency });
      const gain = new GainNode(context, { gain: 0 });
      source.connect(filter).connect(gain).connect(context.destination);
      source.start();
      return gain;
    };
    this.motor = new OscillatorNode(context, { type: "sawtooth", frequency: HUM.base });
    this.hum = through(this.motor, 500);
    const samples = new AudioBuffer({ length: context.sampleRate, sampleRate: context.sampleRate });
    samples.getChannelData(0).forEach((_, i, channel) => (channel[i] = 2 * Math.random() - 1));
    this.scrape = through(new AudioBufferSourceNode(context, { buffer: samples, loop: true }), 2500);
  }

  thump(strength, time) {
    this.last = time;
    const { context } = this;
    const now = context.currentTime;
    const tone = new OscillatorNode(context, { frequency: 80 });
    const gain = new GainNode(context, { gain: 0.25 * strength });
    gain.gain.exponentialRampToValueAtTime(0.001, now + 0.2);
    tone.frequency.exponentialRampToValueAtTime(35, now + 0.2);
    tone.connect(gain).connect(context.destination);
    tone.start();
    tone.stop(now + 0.2);
    this.rumble(strength, 0.5 * strength, 120);
  }

  /** Shake the pad, if it can: strong and weak motor, 0 to 1, for so long [ms]. */
  rumble(strong, weak, duration) {
    const magnitudes = { strongMagnitude: strong, weakMagnitude: weak };
    this.pad()?.vibrationActuator?.playEffect?.("dual-rumble", { duration, ...magnitudes })?.catch?.(() => null);
  }

  close() {
    this.context?.close();
  }
}
