/** A course's gates and bounds as lines on its ground. */

import { THREE } from "nicegui-scene";
import { t } from "./language.js";

const GATE = 0x14813f;
const NEXT = 0xe06000;
const BOUNDS = 0x6b7886;
const LIFT = 0.015; // Of lines above the ground [m]
const POST = 0.12; // Height of a gate's posts [m]
const INSIDE = 0.03; // Distance of a gate's line from its edge, so that no wall hides it [m]
const HIGH = 0.5; // Of a label above the ground [m]
const TALL = 0.035; // Height of a label from a distance of 1 [-]
const ASIDE = 1; // Distance of a vehicle from which on a label is shown [m]
const TOGETHER = 0.1; // Gates that are nearer have one label [m]
const FONT = "700 36px system-ui, sans-serif";
const ABOVE = 50; // Where ground is looked for from [m]

export class Course {
  /**
   * @param {{gates: object[], bounds: object}} course Zones: x, y, yaw, length and width.
   * @param {THREE.Mesh} ground What they lie on.
   */
  constructor({ gates, bounds }, ground) {
    this.object = new THREE.Group();
    const looking = new THREE.Raycaster(new THREE.Vector3(), new THREE.Vector3(0, 0, -1));
    this.middles = gates.map(({ x, y }) => {
      looking.ray.origin.set(x, y, ABOVE);
      return new THREE.Vector3(x, y, looking.intersectObject(ground)[0]?.point.z ?? 0);
    });
    this.gates = gates.map((gate, i) => {
      const { z } = this.middles[i];
      return lines([...ring(gate, z), ...posts(gate, z)], GATE);
    });
    this.next = null;
    this.labels = labelled(gates).map(({ numbers }) => {
      const label = new Label(numbers, gates.length);
      label.sprite.position.copy(this.middles[numbers[0]]).add(new THREE.Vector3(0, 0, HIGH));
      return label;
    });
    this.object.add(lines(ring(bounds, 0), BOUNDS), ...this.gates, ...this.labels.map(({ sprite }) => sprite));
  }

  /** Mark the gate that is to be passed next; null for none. */
  mark(next) {
    this.next = next;
    this.gates.forEach((gate, i) => {
      gate.material.color.set(i === next ? NEXT : GATE);
      gate.renderOrder = i === next ? 1 : 0;
    });
    for (const label of this.labels) label.write(next);
  }

  /** Show the labels but those that a vehicle at a place would be hidden by. */
  clear(place) {
    for (const { sprite } of this.labels) {
      sprite.visible = Math.hypot(sprite.position.x - place.x, sprite.position.y - place.y) > ASIDE;
    }
  }
}

/** The numbers of the gates at each place: several may lie on each other. */
function labelled(gates) {
  const places = [];
  gates.forEach((gate, i) => {
    const place = places.find((other) => Math.hypot(other.gate.x - gate.x, other.gate.y - gate.y) < TOGETHER);
    if (place) place.numbers.push(i);
    else places.push({ gate, numbers: [i] });
  });
  return places;
}

/** A label over a gate that faces the camera, as large from near and far. */
class Label {
  constructor(numbers, count) {
    Object.assign(this, { numbers, count, canvas: document.createElement("canvas") });
    const map = new THREE.CanvasTexture(this.canvas);
    const material = new THREE.SpriteMaterial({ map, sizeAttenuation: false, depthTest: false, transparent: true });
    this.sprite = new THREE.Sprite(material);
    this.sprite.renderOrder = 2;
    this.write(null);
  }

  /** Write the numbers; orange where the gate to pass next is among them. */
  write(next) {
    const words = this.numbers.map((i) => (i === this.count - 1 ? t("Goal") : `${i + 1}`)).join(", ");
    const written = `${words} ${this.numbers.includes(next)}`;
    if (written === this.written) return;
    this.written = written;
    const { canvas, sprite } = this;
    const context = canvas.getContext("2d");
    context.font = FONT;
    canvas.width = Math.ceil(context.measureText(words).width) + 28;
    canvas.height = 52;
    context.font = FONT;
    context.fillStyle = this.numbers.includes(next) ? "#b34a00" : "#14633a";
    context.beginPath();
    context.roundRect(0, 0, canvas.width, canvas.height, 12);
    context.fill();
    context.fillStyle = "#fff";
    context.fillText(words, 14, 39);
    sprite.scale.set((TALL * canvas.width) / canvas.height, TALL, 1);
    sprite.material.map.dispose();
    sprite.material.map.needsUpdate = true;
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
