/** Where each view looks from: behind the vehicle, on board, from above, or freely. */

import { THREE, OrbitControls } from "nicegui-scene";

export const VIEWS = ["chase", "front", "rear", "overhead", "free"];
const FOLLOWING = 3; // How fast the chasing camera turns after the vehicle [1/s]
const UP = new THREE.Vector3(0, 0, 1);
const NORTH = new THREE.Vector3(0, 1, 0);

export class Cameras {
  /**
   * @param {HTMLElement} element Where the free view is dragged.
   * @param {() => void} onDrag Called when it is.
   */
  constructor(element, onDrag) {
    this.camera = Object.fromEntries(VIEWS.map((view) => [view, new THREE.PerspectiveCamera(50, 1, 0.01, 300)]));
    for (const view of ["front", "rear"]) this.camera[view].fov = 80;
    this.orbit = new OrbitControls(this.camera.free, element);
    this.orbit.enabled = false;
    for (const event of ["pointermove", "wheel"]) element.addEventListener(event, () => this.orbit.enabled && onDrag());
    this.centre = new THREE.Vector3();
    this.ahead = new THREE.Vector3(1, 0, 0);
    this.heading = null;
    this.last = 0;
  }

  /** Take the measures of a vehicle: its reach [m] and its body's box [m]. */
  fit(reach, box) {
    this.reach = reach;
    this.bottom = box.min.z;
    this.top = box.max.z + 0.1 * reach;
    this.ends = { front: box.max.x, rear: box.min.x };
    this.heading = null;
  }

  /** Follow the body's matrix in the world; `time` is the page's clock [ms]. */
  follow(body, time) {
    const before = this.centre.clone();
    this.centre.setFromMatrixPosition(body);
    this.ahead.setFromMatrixColumn(body, 0);
    const heading = Math.atan2(this.ahead.y, this.ahead.x);
    const first = this.heading === null;
    if (first) this.heading = heading;
    const behind = Math.atan2(Math.sin(heading - this.heading), Math.cos(heading - this.heading));
    this.heading += behind * (1 - Math.exp((-FOLLOWING * Math.min(time - this.last, 200)) / 1000));
    this.last = time;
    this.placeChase();
    for (const view of ["front", "rear"]) this.placeOnBoard(view, body);
    this.look("overhead", this.centre.clone().addScaledVector(UP, 6 * this.reach), this.centre, NORTH);
    const { free } = this.camera;
    if (first) this.look("free", this.offset(-3, -3, 2), this.centre, UP);
    else free.position.add(this.centre).sub(before);
    this.orbit.target.copy(this.centre);
    this.orbit.update();
  }

  placeChase() {
    const away = -2.6 * this.reach;
    const from = this.offset(away * Math.cos(this.heading), away * Math.sin(this.heading), 0, 1);
    from.z += 1.3 * this.reach;
    this.look("chase", from, this.offset(0, 0, 0.1), UP);
  }

  placeOnBoard(view, body) {
    const way = view === "front" ? 1 : -1;
    const from = new THREE.Vector3(this.ends[view] - 0.1 * way * this.reach, 0, this.top).applyMatrix4(body);
    const up = new THREE.Vector3().setFromMatrixColumn(body, 2);
    const down = 0.35;
    const to = from.clone().addScaledVector(this.ahead, way).addScaledVector(up, -down);
    this.look(view, from, to, up);
  }

  /** A point beside the vehicle, in reaches of it, or with a `unit` of its own [m]. */
  offset(x, y, z, unit = this.reach) {
    return new THREE.Vector3(x, y, z).multiplyScalar(unit).add(this.centre);
  }

  look(view, from, to, up) {
    const camera = this.camera[view];
    camera.up.copy(up);
    camera.position.copy(from);
    camera.lookAt(to);
  }

  close() {
    this.orbit.dispose();
  }
}
