/** Contact loads as arrows: one instanced mesh, its length a round number of newtons a metre. */

import { THREE } from "nicegui-scene";
import { dispose } from "./meshes.js";

const MAX_ARROWS = 1024;
const UP = new THREE.Vector3(0, 1, 0);
const point = new THREE.Vector3();
const force = new THREE.Vector3();
const scale = new THREE.Vector3();
const turn = new THREE.Quaternion();
const matrix = new THREE.Matrix4();

export class Arrows {
  constructor(scene) {
    const material = new THREE.MeshBasicMaterial({ color: 0xe5217a, depthTest: false, transparent: true });
    this.mesh = new THREE.InstancedMesh(arrow(), material, MAX_ARROWS); // Transparent: drawn after all that hides it.
    this.mesh.frustumCulled = false;
    this.mesh.count = 0;
    this.full = 0;
    scene.add(this.mesh);
  }

  /**
   * Show contacts, six numbers each: point [m] and force on the vehicle [N] in the world.
   *
   * @param {number} size Length of the largest arrow [m].
   */
  show(contacts, size) {
    const count = Math.min(contacts.length / 6, MAX_ARROWS);
    let largest = 0;
    for (let i = 0; i < count; i++) largest = Math.max(largest, force.fromArray(contacts, 6 * i + 3).length());
    if (largest > this.full || largest < this.full / 5) this.full = roundUp(largest);
    for (let i = 0; i < count; i++) {
      force.fromArray(contacts, 6 * i + 3);
      const length = Math.max((size * force.length()) / (this.full || 1), 1e-6);
      turn.setFromUnitVectors(UP, force.normalize());
      point.fromArray(contacts, 6 * i);
      this.mesh.setMatrixAt(i, matrix.compose(point, turn, scale.set(0.025 * size, length, 0.025 * size)));
    }
    this.legend = this.full ? `longest arrow ${this.full} N` : "";
    this.mesh.count = count;
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  dispose() {
    dispose(this.mesh);
  }
}

/** An arrow from the origin to y = 1, its shaft of radius 1/2. */
function arrow() {
  const outline = [[0, 0], [0.5, 0], [0.5, 0.75], [1.5, 0.75], [0, 1]];
  return new THREE.LatheGeometry(outline.map(([x, y]) => new THREE.Vector2(x, y)), 5);
}

/** The next of 1, 2, 5, 10, ... that is at least `value`. */
function roundUp(value) {
  if (value <= 0) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= value);
}
