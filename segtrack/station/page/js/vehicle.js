/** A vehicle from its look: what it consists of is read once, a pose puts everything where it is. */

import { THREE } from "nicegui-scene";
import { arraysOf, dispose, geometryOf, solid } from "./meshes.js";
import { BeltPath } from "./path.js";

const AXIS_Y = new THREE.Vector3(0, 1, 0);
const ONE = new THREE.Vector3(1, 1, 1);
const position = new THREE.Vector3();
const rotation = new THREE.Quaternion();
const matrix = new THREE.Matrix4();
const at = [0, 0, 0];

export class Vehicle {
  /**
   * @param {object} look `VehicleLook.as_json()`.
   * @param {() => THREE.Material} material Makes what it is shown in.
   */
  constructor(look, material = solid) {
    this.look = look;
    this.object = new THREE.Group();
    this.links = look.links.map(() => group(this.object));
    this.tracks = look.tracks.map((track) => {
      const frame = group(this.links[track.link]);
      frame.matrix.copy(frameMatrix(track.mount));
      return { name: track.name, link: track.link, frame, path: new BeltPath(track.path) };
    });
    this.material = material();
    this.riding = [];
    this.wheels = [];
    this.bodies = [];
    this.meshes = look.parts.map(({ mesh, place }) => this.add(geometryOf(mesh), place));
    this.size = this.poseSize();
  }

  /** Add a part where its place says; returns its mesh. */
  add(geometry, place) {
    if (place.on === "belt" || place.on === "bodies") return this.addCopies(geometry, place);
    const mesh = new THREE.Mesh(geometry, this.material);
    if (place.on === "link") this.links[place.link].add(mesh);
    else {
      mesh.position.set(...place.center);
      this.tracks[place.track].frame.add(mesh);
      this.wheels.push({ mesh, track: place.track, radius: place.radius });
    }
    return mesh;
  }

  addCopies(geometry, { on, track, coordinates, indices }) {
    const rides = on === "belt";
    const mesh = new THREE.InstancedMesh(geometry, this.material, (rides ? coordinates : indices).length);
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    mesh.frustumCulled = false; // Its bounds are those of the first pose.
    if (rides) this.riding.push({ mesh, track, coordinates, path: this.tracks[track].path });
    else this.bodies.push({ mesh, indices });
    (rides ? this.tracks[track].frame : this.object).add(mesh);
    return mesh;
  }

  /** How many numbers a pose has. */
  poseSize() {
    return 7 * this.links.length + this.tracks.length + 7 * this.look.bodies;
  }

  /** Put everything where `flat` says, `VehiclePose.flat()`; a pose of another vehicle changes nothing. */
  pose(flat) {
    if (flat.length !== this.size) return;
    this.links.forEach((link, i) => readMatrix(flat, 7 * i, link.matrix));
    const travels = 7 * this.links.length;
    for (const { mesh, path, track, coordinates } of this.riding) {
      const travel = flat[travels + track];
      coordinates.forEach((coordinate, i) => {
        path.locate(coordinate + travel, at);
        rotation.setFromAxisAngle(AXIS_Y, at[2]);
        mesh.setMatrixAt(i, matrix.compose(position.set(at[0], 0, at[1]), rotation, ONE));
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
    for (const { mesh, track, radius } of this.wheels) {
      mesh.quaternion.setFromAxisAngle(AXIS_Y, flat[travels + track] / radius);
    }
    const bodies = travels + this.tracks.length;
    for (const { mesh, indices } of this.bodies) {
      indices.forEach((body, i) => mesh.setMatrixAt(i, readMatrix(flat, bodies + 7 * body, matrix)));
      mesh.instanceMatrix.needsUpdate = true;
    }
    this.object.updateMatrixWorld(true);
  }

  /** Place of the body in the world [m]. */
  get position() {
    return new THREE.Vector3().setFromMatrixPosition(this.body);
  }

  /** Matrix of the body in the world. */
  get body() {
    return this.links[0].matrix;
  }

  /** Box around what is fixed to the body's link, and the belts on it, or else around all belts, in its frame [m]. */
  box() {
    const box = new THREE.Box3();
    for (const { mesh, place } of this.look.parts) {
      if (place.on !== "link" || place.link !== 0) continue;
      const { points } = arraysOf(mesh);
      for (let i = 0; i < points.length; i += 3) box.expandByPoint(position.fromArray(points, i));
    }
    for (const { frame, path } of this.tracks.filter(({ link }) => link === 0)) {
      for (const [x, z] of path.outline()) box.expandByPoint(position.set(x, 0, z).applyMatrix4(frame.matrix));
    }
    return box.isEmpty() ? this.aroundBelts(box) : box;
  }

  /** Expand a box in the body's frame by all belts, as they are in the pose of now. */
  aroundBelts(box) {
    const inverse = this.body.clone().invert();
    for (const { frame, path } of this.tracks) {
      matrix.multiplyMatrices(inverse, frame.matrixWorld);
      for (const [x, z] of path.outline()) box.expandByPoint(position.set(x, 0, z).applyMatrix4(matrix));
    }
    return box;
  }

  /** What shades the ground: each link with its middle and half its extents, in its frame [m]. */
  casters() {
    const boxes = this.links.map(() => new THREE.Box3());
    for (const { mesh, place } of this.look.parts) {
      if (place.on !== "link" && place.on !== "belt") continue;
      const { points } = arraysOf(mesh);
      const track = this.tracks[place.track];
      for (let i = 0; i < points.length; i += 3) {
        if (place.on === "link") boxes[place.link].expandByPoint(position.fromArray(points, i));
        else for (const [x, z] of track.path.outline()) {
          boxes[track.link].expandByPoint(position.set(x, points[i + 1], z).applyMatrix4(track.frame.matrix));
        }
      }
    }
    return boxes.flatMap((box, i) => {
      if (box.isEmpty()) return [];
      const half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
      return [{ link: this.links[i], middle: box.getCenter(new THREE.Vector3()), half }];
    });
  }

  /** Largest reach of belts and body from the body's origin [m], flippers as they are in the pose of now. */
  reach() {
    const box = this.aroundBelts(this.box());
    return Math.max(box.min.length(), box.max.length());
  }

  dispose() {
    dispose(this.object);
  }
}

function group(parent) {
  const object = new THREE.Group();
  object.matrixAutoUpdate = false;
  parent.add(object);
  return object;
}

/** Write position and quaternion (x, y, z, w) from seven numbers into a matrix. */
function readMatrix(flat, from, out) {
  position.fromArray(flat, from);
  rotation.fromArray(flat, from + 3);
  return out.compose(position, rotation, ONE);
}

/** Matrix of a frame {origin (3,), rotation row by row (9,)}. */
function frameMatrix({ origin: [x, y, z], rotation: [a, b, c, d, e, f, g, h, i] }) {
  return new THREE.Matrix4().set(a, b, c, x, d, e, f, y, g, h, i, z, 0, 0, 0, 1);
}
