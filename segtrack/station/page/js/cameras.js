/** Where each view looks from: behind the vehicle, on board, from above, or freely. */

import { THREE, OrbitControls } from "nicegui-scene";
import { Ptz } from "./ptz.js";

export const ON_BOARD = ["front", "rear", "ptz"];
export const VIEWS = ["chase", ...ON_BOARD, "overhead", "free"];
const FIELD = 80; // Vertical field of cameras on board, without zoom [degrees]
const FOLLOWING = 3; // How fast the chasing camera turns after the vehicle [1/s]
const UP = new THREE.Vector3(0, 0, 1);
const NORTH = new THREE.Vector3(0, 1, 0);
const LOOKS_DOWN = 0.35; // Of cameras and lamps at the ends [-]
const MAST = 0.35; // Height of the pan-tilt-zoom camera above the body, over the reach [-]

export class Cameras {
  /**
   * @param {HTMLElement} element Where the free view is dragged.
   * @param {() => void} onDrag Called when it is.
   */
  constructor(element, onDrag) {
    this.camera = Object.fromEntries(VIEWS.map((view) => [view, new THREE.PerspectiveCamera(50, 1, 0.01, 300)]));
    for (const view of ON_BOARD) this.camera[view].fov = FIELD;
    this.ptz = new Ptz();
    this.orbit = new OrbitControls(this.camera.free, element);
    this.orbit.enabled = false;
    for (const event of ["pointermove", "wheel"]) element.addEventListener(event, () => this.orbit.enabled && onDrag());
    this.drags = new AbortController();
    this.tall = element.clientHeight || 1; // Height of the main view's picture [px]
    this.dragged = false; // Whether the main view is the pan-tilt-zoom camera's
    const { signal } = this.drags;
    element.addEventListener("pointermove", (event) => this.drag(event, onDrag), { signal });
    element.addEventListener("wheel", (event) => this.drag(event, onDrag), { signal, passive: true });
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
    this.turns = this.ptz.move(time);
    this.placeMast(body);
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
    const to = from.clone().addScaledVector(this.ahead, way).addScaledVector(up, -LOOKS_DOWN);
    this.look(view, from, to, up);
  }

  placeMast(body) {
    const { pan, tilt, zoom } = this.ptz;
    const { camera } = this;
    const from = new THREE.Vector3(0, 0, this.top + MAST * this.reach).applyMatrix4(body);
    const along = new THREE.Vector3(Math.cos(tilt) * Math.cos(pan), Math.cos(tilt) * Math.sin(pan), Math.sin(tilt));
    this.look("ptz", from, along.transformDirection(body).add(from), new THREE.Vector3().setFromMatrixColumn(body, 2));
    camera.ptz.fov = (Math.atan(Math.tan((FIELD * Math.PI) / 360) / zoom) * 360) / Math.PI;
  }

  /** Turn the pan-tilt-zoom camera after a finger or a mouse, and zoom by its wheel. */
  drag({ type, buttons, movementX, movementY, deltaY }, onDrag) {
    if (!this.dragged || (type === "pointermove" && !(buttons & 1))) return;
    const angle = (FIELD * Math.PI) / 180 / this.ptz.zoom / this.tall; // Of a pixel
    const [pan, tilt, zoom] = type === "wheel" ? [0, 0, Math.exp(-0.002 * deltaY)] : [angle * movementX, angle * movementY, 1];
    this.ptz.drag(pan, tilt, zoom, performance.now());
    onDrag();
  }

  /** Lamps of the vehicle: two ahead, one astern, one beside the pan-tilt-zoom camera; where they are, and their beams' ways. */
  lamps(body) {
    const ends = [["front", 0.25], ["front", -0.25], ["rear", 0]];
    const fixed = ends.map(([end, side]) => {
      const at = new THREE.Vector3(this.ends[end], side * this.reach, this.top).applyMatrix4(body);
      const to = new THREE.Vector3(end === "front" ? 1 : -1, 0, -0.5 * LOOKS_DOWN).transformDirection(body);
      return { at, to };
    });
    const { ptz } = this.camera;
    return [...fixed, { at: ptz.position.clone(), to: ptz.getWorldDirection(new THREE.Vector3()) }];
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
    this.drags.abort();
    this.orbit.dispose();
  }
}
