/** A course's gates and bounds as lines on its ground. */

import { THREE } from "nicegui-scene";

const GATE = 0x14813f;
const NEXT = 0xe06000;
const BOUNDS = 0x6b7886;
const LIFT = 0.015; // Of lines above the ground [m]
const POST = 0.12; // Height of a gate's posts [m]
const INSIDE = 0.03; // Distance of a gate's line from its edge, so that no wall hides it [m]
const ABOVE = 50; // Where ground is looked for from [m]

export class Course {
  /**
   * @param {{gates: object[], bounds: object}} course Zones: x, y, yaw, length and width.
   * @param {THREE.Mesh} ground What they lie on.
   */
  constructor({ gates, bounds }, ground) {
    this.object = new THREE.Group();
    const looking = new THREE.Raycaster(new THREE.Vector3(), new THREE.Vector3(0, 0, -1));
    this.gates = gates.map((gate) => {
      looking.ray.origin.set(gate.x, gate.y, ABOVE);
      const z = looking.intersectObject(ground)[0]?.point.z ?? 0;
      return lines([...ring(gate, z), ...posts(gate, z)], GATE);
    });
    this.object.add(lines(ring(bounds, 0), BOUNDS), ...this.gates);
  }

  /** Mark the gate that is to be passed next; null for none. */
  mark(next) {
    this.gates.forEach((gate, i) => {
      gate.material.color.set(i === next ? NEXT : GATE);
      gate.renderOrder = i === next ? 1 : 0;
    });
  }
}

function lines(points, color) {
  const geometry = new THREE.BufferGeometry().setFromPoints(points);
  return new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color }));
}

function corners({ x, y, yaw, length, width }, z) {
  return [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([along, across]) => {
    const [a, b] = [along * (length / 2 - INSIDE), across * (width / 2 - INSIDE)];
    const [cos, sin] = [Math.cos(yaw), Math.sin(yaw)];
    return new THREE.Vector3(x + a * cos - b * sin, y + a * sin + b * cos, z + LIFT);
  });
}

function ring(zone, z) {
  const points = corners(zone, z);
  return points.flatMap((point, i) => [point, points[(i + 1) % points.length]]);
}

function posts(zone, z) {
  const tops = corners(zone, z + POST);
  return corners(zone, z).flatMap((foot, i) => [foot, tops[i]]);
}
