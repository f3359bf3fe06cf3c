/** Maps of gamepads: what the axes and buttons of any pad are in the W3C standard layout, found by moving them. */

/** What is asked for, in this order: an axis of the standard layout by its positive direction, or a button. */
export const FUNCTIONS = [
  { name: "left stick right", axis: 0 },
  { name: "left stick down", axis: 1 },
  { name: "right stick right", axis: 2 },
  { name: "right stick down", axis: 3 },
  { name: "A", button: 0 },
  { name: "B", button: 1 },
  { name: "LB", button: 4 },
  { name: "RB", button: 5 },
  { name: "LT", button: 6 },
  { name: "RT", button: 7 },
  { name: "Back", button: 8 },
  { name: "Start", button: 9 },
  { name: "D-pad up", button: 12 },
  { name: "D-pad down", button: 13 },
  { name: "D-pad left", button: 14 }, // This one and those that follow turn the camera, and nothing else
  { name: "D-pad right", button: 15 },
  { name: "X", button: 2 },
  { name: "Y", button: 3 },
  { name: "left stick pressed", button: 10 },
  { name: "right stick pressed", button: 11 },
];
const DRIVING = 14; // Functions before those of the camera
const [STOP, LEFT_TRIGGER, RIGHT_TRIGGER] = [1, 6, 7]; // Buttons of the emergency stop and the dead-man
const BUTTONS = 17;
const MOVED = 0.5; // Of an axis from its rest
const STILL = 0.25;
const HELD = 4; // Readings for which something is held until it is believed
const BEYOND = 1.2; // A hat rests outside of what axes reach
const ALIKE = 0.1; // Of an axis' values, for it to stand still
const keyOf = ({ id }) => `segtrack-pad-${id}`;

/** The map that was kept for a pad; null for none, or one that is damaged. */
export function keptMap(pad) {
  try {
    const map = JSON.parse(localStorage.getItem(keyOf(pad)));
    const isWhole = Array.isArray(map) && map.length >= DRIVING && map.length <= FUNCTIONS.length;
    return isWhole && map.every(isSource) && isSafe(map) ? map : null;
  } catch {
    return null;
  }
}

/** Keep the map that was found. */
export const keepMap = (mapper) => localStorage.setItem(keyOf(mapper), JSON.stringify(mapper.map));
export const forgetMap = (pad) => localStorage.removeItem(keyOf(pad));

const isSource = (source) =>
  source === null ||
  Number.isInteger(source.button) ||
  (Number.isInteger(source.axis) && [source.rest, source.reach].every(Number.isFinite) && source.reach !== source.rest);

const sourceOf = (map, button) => map[FUNCTIONS.findIndex((wanted) => wanted.button === button)];

/** Whether a map has the emergency stop, and a dead-man to hold. */
export const isSafe = (map) => sourceOf(map, STOP) !== null && [LEFT_TRIGGER, RIGHT_TRIGGER].some((button) => sourceOf(map, button));

/** Axes and buttons of the standard layout, 0 or 1 each, as a pad with a map holds them. */
export function mapped(pad, map) {
  const axes = [0, 0, 0, 0];
  const buttons = Array(BUTTONS).fill(0);
  map.forEach((source, i) => {
    const { axis, button } = FUNCTIONS[i];
    if (source === null) return;
    if (axis !== undefined) axes[axis] = deflection(pad, source);
    else buttons[button] = isPressed(pad, source) ? 1 : 0;
  });
  return { axes, buttons };
}

const deflection = (pad, { axis, rest, reach }) => ((pad.axes[axis] ?? rest) - rest) / (reach - rest);

function isPressed(pad, source) {
  if (source.button !== undefined) return pad.buttons[source.button]?.pressed ?? false;
  return isHat(source) ? Math.abs(pad.axes[source.axis] - source.reach) < ALIKE : deflection(pad, source) > MOVED;
}

const isSame = (one, other) => one.axis === other.axis && one.button === other.button;
const isHat = ({ rest }) => Math.abs(rest) > BEYOND;
const travel = ({ rest, reach }) => Math.abs(reach - rest);

/** Finds a pad's map: shown one function after another, it takes what is moved or pressed for each. */
export class Mapper {
  /** @param {Gamepad} pad At rest. */
  constructor(pad) {
    Object.assign(this, { id: pad.id, map: [], rest: [...pad.axes], found: null, held: 0 });
  }

  /** The function that is asked for; null when all are known. */
  get wanted() {
    return FUNCTIONS[this.map.length] ?? null;
  }

  /** Whether the function that is asked for may be left out. */
  get maySkip() {
    const { button } = this.wanted ?? {};
    const withoutLeft = button === RIGHT_TRIGGER && sourceOf(this.map, LEFT_TRIGGER) === null;
    return button !== STOP && !withoutLeft;
  }

  /** Whether all that driving needs is known, and the rest may stay unknown. */
  get mayEnd() {
    return this.map.length >= DRIVING;
  }

  /** Whether what is held is believed, and may be let go. */
  get isFound() {
    return this.held >= HELD && !this.isTaken(this.found);
  }

  /** Whether what is held is another function's already. */
  get isOthers() {
    return this.held >= HELD && this.isTaken(this.found);
  }

  skip() {
    if (this.maySkip) this.map.push(null);
    Object.assign(this, { found: null, held: 0 });
  }

  /** Look at the pad: what is held, and stands still, is taken once it is let go. */
  look(pad) {
    if (!this.wanted) return;
    const source = this.moved(pad);
    if (this.found && this.atRest(pad)) {
      if (this.isFound) this.map.push(this.found);
      Object.assign(this, { found: null, held: 0 });
    } else if (source && this.begins(source)) {
      Object.assign(this, { found: source, held: 1 });
    } else if (source && isSame(source, this.found)) {
      this.held++;
      if (this.held >= HELD && !isHat(source) && travel(source) > travel(this.found)) this.found = source;
    }
  }

  /** Whether something else is held, or the same elsewhere; what is believed, only farther away, for it passes others on its way back. */
  begins(source) {
    const { found } = this;
    if (!found) return true;
    const isElsewhere = !isSame(source, found) || Math.abs(source.reach - found.reach) > ALIKE;
    if (this.held < HELD) return isElsewhere;
    return isSame(source, found) && isElsewhere && !isHat(source) && travel(source) > travel(found);
  }

  /** What is moved farthest from its rest, or pressed; null for nothing. An axis of a stick is nothing else's. */
  moved(pad) {
    const pressed = pad.buttons.findIndex((button) => button.pressed);
    if (this.wanted.button !== undefined && pressed >= 0) return { button: pressed };
    const far = pad.axes.map((value, axis) => ({ axis, rest: this.rest[axis], reach: value }));
    const sticks = this.map.filter((source, i) => source && FUNCTIONS[i].axis !== undefined).map(({ axis }) => axis);
    const isStick = this.wanted.axis !== undefined;
    const mayBe = far.filter((source) => !sticks.includes(source.axis) && !(isStick && isHat(source)));
    const [first] = mayBe.sort((one, other) => travel(other) - travel(one));
    return first && travel(first) > MOVED ? first : null;
  }

  atRest(pad) {
    const still = pad.axes.every((value, axis) => Math.abs(value - this.rest[axis]) < STILL);
    return still && !pad.buttons.some((button) => button.pressed);
  }

  /** Whether something is another function's already; a hat has several. */
  isTaken(found) {
    return this.map.some((source) => {
      if (source === null) return false;
      if (found.button !== undefined) return source.button === found.button;
      return source.axis === found.axis && Math.sign(source.reach - source.rest) === Math.sign(found.reach - found.rest) &&
        !(isHat(found) && Math.abs(source.reach - found.reach) > ALIKE);
    });
  }
}
