/** The first lesson: controls one after another, each done once the vehicle did what it is for. */

import { THREE } from "nicegui-scene";
import { FLAG } from "./state.js";

const FAR = 0.4; // Way to drive [m]
const TURN = THREE.MathUtils.degToRad(25);
const SWING = 0.25; // Of a flipper [rad]

/**
 * Steps in their order: name, the action that is learned as the table of keys has it, how with a pad and by touch,
 * whether only a vehicle with flippers has it, and when it is done.
 */
export const STEPS = [
  { name: "start", done: ({ run, rested }) => rested && run === "running" },
  {
    name: "forward",
    action: "drive forward",
    pad: ["LT", "left stick up"],
    touch: ["left stick up"],
    done: ({ ahead }) => ahead > FAR,
  },
  {
    name: "left",
    action: "turn left",
    pad: ["LT", "left stick left"],
    touch: ["left stick left"],
    done: ({ turned }) => turned > TURN,
  },
  {
    name: "right",
    action: "turn right",
    pad: ["LT", "left stick right"],
    touch: ["left stick right"],
    done: ({ turned }) => turned < -TURN,
  },
  {
    name: "raise",
    action: "raise the front flippers",
    pad: ["LT", "right stick up"],
    touch: ["right stick up"],
    flippers: true,
    done: ({ raised }) => raised > SWING,
  },
  {
    name: "lower",
    action: "lower the front flippers",
    pad: ["LT", "right stick down"],
    touch: ["right stick down"],
    flippers: true,
    done: ({ raised }) => raised < -SWING,
  },
  { name: "stop", action: "emergency stop", pad: ["B"], touch: ["E-STOP"], done: ({ stopped }) => stopped },
  { name: "release", action: "release the emergency stop", pad: ["Start"], touch: ["Release stop"], done: ({ stopped }) => !stopped },
  { name: "gates", done: ({ passed }) => passed },
];

export class Lesson {
  /**
   * @param {{name: string}} exercise Whose trial ends the lesson.
   * @param {string} before Recording of the trial that there was before it.
   */
  constructor(exercise, before) {
    Object.assign(this, { exercise, before, number: 0, from: null, flippers: true, rested: false });
  }

  get steps() {
    return STEPS.filter((step) => this.flippers || !step.flippers);
  }

  get step() {
    return this.steps[this.number];
  }

  /** Go to the exercise at once. */
  skip() {
    this.number = this.steps.length - 1;
  }

  /**
   * Look at what is so now; returns true if a step was done with it.
   *
   * @param {THREE.Matrix4} body Of the vehicle, in the world.
   * @param {number[]} angles Of its front flippers, or of all if none is in front [rad].
   * @param {{flags: number, run: string, passed: boolean}} now The state's flags, the run, and whether the trial passed.
   */
  look(body, angles, { flags, run, passed }) {
    this.flippers = angles.length > 0;
    this.number = Math.min(this.number, this.steps.length - 1);
    if (this.from && this.from.angles.length !== angles.length) this.from = null;
    const place = new THREE.Vector3().setFromMatrixPosition(body);
    const nose = new THREE.Vector3().setFromMatrixColumn(body, 0);
    const heading = Math.atan2(nose.y, nose.x);
    this.from ??= { place, heading, nose, angles };
    const { from } = this;
    this.rested ||= run !== "running"; // What the one before drove is put back to the start first.
    const stopped = (flags & FLAG.eStop) !== 0;
    const done = this.step.done({
      run,
      rested: this.rested,
      passed,
      stopped,
      ahead: place.clone().sub(from.place).dot(from.nose),
      turned: Math.atan2(Math.sin(heading - from.heading), Math.cos(heading - from.heading)),
      raised: angles.reduce((sum, angle, i) => sum + (angle - from.angles[i]) / angles.length, 0),
    });
    if (!done || this.number === this.steps.length - 1) return false;
    this.number++;
    this.from = null;
    return true;
  }
}
