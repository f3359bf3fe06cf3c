/** A pan-tilt-zoom camera: it turns as fast as its motors do, and obeys late where the link is slow. */

const RATE = Math.PI / 3; // Fastest turn [rad/s]; a choice of ours, as what follows
const ZOOM_RATE = 1.2; // Growth of the zoom [1/s]
const LIMITS = { pan: [-2.97, 2.97], tilt: [-1.05, 1.05], zoom: [1, 10] }; // [rad], [rad], [-]; up and left are positive

/** What moves it: keys and buttons of the standard gamepad, with the share of each rate that they ask for. */
export const PTZ_INPUTS = [
  { action: "camera to the left", key: "KeyJ", button: 14, pan: 1 },
  { action: "camera to the right", key: "KeyL", button: 15, pan: -1 },
  { action: "camera up", key: "KeyI", button: 11, tilt: 1 },
  { action: "camera down", key: "KeyK", button: 10, tilt: -1 },
  { action: "camera nearer", key: "KeyO", button: 2, zoom: 1 },
  { action: "camera wider", key: "KeyU", button: 3, zoom: -1 },
  { action: "camera straight ahead", key: "KeyH", home: true },
];
const STILL = { pan: 0, tilt: 0, zoom: 0, home: false };

/** What `keys` and `buttons` that are held ask for. */
export function ptzOrder(keys, buttons) {
  const held = PTZ_INPUTS.filter(({ key, button }) => keys.has(key) || buttons[button]);
  const sum = (what) => Math.sign(held.reduce((all, input) => all + (input[what] ?? 0), 0));
  return { pan: sum("pan"), tilt: sum("tilt"), zoom: sum("zoom"), home: held.some(({ home }) => home) };
}

export class Ptz {
  constructor() {
    Object.assign(this, { pan: 0, tilt: 0, zoom: 1, orders: [], asked: STILL, order: STILL, aim: null, last: null });
    this.delay = 0; // From an order to its picture [ms]
  }

  /** Ask for what `ptzOrder` gives, at a time of the page's clock [ms]; returns whether that is news. */
  ask(order, time) {
    const isNews = Object.keys(order).some((name) => order[name] !== this.asked[name]);
    if (isNews) this.push({ order }, time);
    this.asked = order;
    return isNews;
  }

  /** Ask for a place that is so far from that asked for last: pan and tilt [rad], and a factor of the zoom. */
  drag(pan, tilt, zoom, time) {
    this.push({ drag: { pan, tilt, zoom } }, time);
  }

  push(order, time) {
    this.orders.push({ at: time + this.delay, ...order });
  }

  /** Move until a time [ms]; returns whether it moves. */
  move(time) {
    const elapsed = this.last === null ? 0 : Math.min(time - this.last, 200) / 1000;
    this.last = time;
    while (this.orders.length && this.orders[0].at <= time) this.take(this.orders.shift());
    const { order } = this;
    const before = [this.pan, this.tilt, this.zoom].join();
    for (const name of ["pan", "tilt"]) this.turn(name, this.aim ? this.aim[name] : null, order[name], RATE * elapsed);
    const zoom = this.aim ? this.aim.zoom / this.zoom : Math.exp(order.zoom * ZOOM_RATE * elapsed);
    const most = Math.exp(ZOOM_RATE * elapsed);
    this.zoom = clip("zoom", this.zoom * Math.min(Math.max(zoom, 1 / most), most));
    return this.orders.length > 0 || before !== [this.pan, this.tilt, this.zoom].join();
  }

  take({ order, drag }) {
    const { pan, tilt, zoom } = this.aim ?? this;
    if (drag) {
      this.aim = { pan: clip("pan", pan + drag.pan), tilt: clip("tilt", tilt + drag.tilt), zoom: clip("zoom", zoom * drag.zoom) };
      this.order = STILL;
    } else {
      if (order.home) this.aim = { pan: 0, tilt: 0, zoom: 1 };
      else if (order.pan || order.tilt || order.zoom) this.aim = null;
      this.order = order;
    }
  }

  turn(name, aim, rate, most) {
    const step = aim === null ? rate * most : Math.min(Math.max(aim - this[name], -most), most);
    this[name] = clip(name, this[name] + step);
  }
}

const clip = (name, value) => Math.min(Math.max(value, LIMITS[name][0]), LIMITS[name][1]);
