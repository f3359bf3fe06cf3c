/** The scene: ground, course, vehicle, ghost and contact loads, drawn in one view with another inset. */

import { THREE } from "nicegui-scene";
import { Arrows } from "./arrows.js";
import { Cameras, ON_BOARD } from "./cameras.js";
import { Course } from "./course.js";
import { CASTERS, dispose, edgesOf, geometryOf, squared, translucent } from "./meshes.js";
import { FLAG } from "./state.js";
import { Vehicle } from "./vehicle.js";
import { Video, WIDE } from "./video.js";

THREE.ColorManagement.enabled = false; // Colours are as written, on the canvas and in what Video draws alike.
const SKY = { dark: 0x1d2733, light: 0xdfe8f0 };
const DIM = 0.72; // Brightness of the ground on a dark page
const CLEARING = 0.8; // Radius in which the chased vehicle is cleared from view, over its reach
const INSET = { share: 0.3, margin: 12 };
const SLOW = 40; // A mean frame that takes longer is drawn coarser from then on [ms]
const FAST = 18; // One that takes less is drawn finer, each after some frames [ms]
const PATIENCE = { coarser: 20, finer: 300 };
const HIDDEN = 500; // A frame that takes longer was not drawn slowly, but not at all [ms]
const RATIOS = [0.5, 0.75, 1, 1.5];

const EXPOSED = 3; // Distance from a lamp at which it is as bright as by day, over the vehicle's reach
const BARS = 0x000000;
const SOFT = 0.12; // Reach of shades beyond what casts them [m]
/** Cameras as anybody would like them, by day, in clear air. */
export const CLEAR = { real: false, dark: false, visibility: null };
const ORIGIN = new THREE.Vector3();
const point = new THREE.Vector3();
const size = new THREE.Vector3();
const box = new THREE.Box3();
const around = new THREE.Box3();

export class View {
  /**
   * @param {HTMLCanvasElement} canvas Fills its parent.
   * @param {() => void} onChange Called when the picture has to be drawn anew: another size, a dragged view.
   */
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.onChange = onChange;
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !drawnInSoftware() });
    this.renderer.autoClear = false;
    this.renderer.outputColorSpace = THREE.LinearSRGBColorSpace;
    this.scene = new THREE.Scene();
    this.cameras = new Cameras(canvas, onChange);
    this.video = new Video(this.renderer);
    this.seeing = CLEAR;
    this.arrows = new Arrows(this.scene);
    this.shown = { main: "chase", inset: null };
    this.number = null;
    this.finest = Math.min(window.devicePixelRatio, RATIOS.at(-1));
    Object.assign(this, { ratio: this.finest, pace: null, frames: 0 });
    this.resizing = new ResizeObserver(() => this.resize());
    this.resizing.observe(canvas.parentElement);
    this.resize();
  }

  /**
   * Where the next gate lies beyond the edges of the main view, clockwise from upwards [rad], in steps of 5 degrees; null
   * while it is seen, or there is none. Real cameras do not tell.
   */
  get aim() {
    const gate = this.course.middles[this.course.next];
    if (!gate || this.seeing.real) return null;
    const camera = this.cameras.camera[this.shown.main];
    const { x, y, z } = point.copy(gate).applyMatrix4(camera.matrixWorldInverse);
    const tall = -z * Math.tan(THREE.MathUtils.degToRad(camera.fov / 2));
    if (z < 0 && Math.abs(y) < tall && Math.abs(x) < camera.aspect * tall) return null;
    const step = THREE.MathUtils.degToRad(5);
    return step * Math.round(Math.atan2(x, z < 0 ? y : -Math.abs(y)) / step);
  }

  /** Replace what is seen: `Scene` of the protocol. */
  setScene({ number, look, ground, course, ghost }) {
    for (const old of [this.ground, this.course?.object]) if (old) dispose(old);
    this.vehicle?.dispose();
    this.ghost?.dispose();
    this.ground = new THREE.Mesh(geometryOf(ground), squared());
    this.course = new Course(course, this.ground);
    this.ground.add(edgesOf(this.ground.geometry));
    this.vehicle = new Vehicle(look);
    this.ghost = ghost ? new Vehicle(ghost, translucent) : null;
    this.scene.add(this.ground, this.course.object, this.vehicle.object);
    if (this.ghost) this.scene.add(this.ghost.object);
    this.setDark(this.dark);
    if (number !== this.number) for (const slot of ["main", "inset"]) this.video.forget(slot);
    this.number = number;
    this.fitted = false;
    this.casters = this.vehicle.casters().slice(0, CASTERS);
  }

  setDark(dark) {
    this.dark = dark;
    this.tone();
  }

  /** Take sky and ground of the page's theme; where seeing has conditions, they are those of a light page. */
  tone() {
    const { real, dark, visibility } = this.seeing;
    const dim = this.dark && !real && !dark && !visibility;
    this.renderer.setClearColor(dim ? SKY.dark : SKY.light);
    if (this.ground) this.ground.material.uniforms.brightness.value = dim ? DIM : 1;
  }

  /** Choose the view, and the inset view or null. */
  show(main, inset) {
    this.shown = { main, inset };
    this.cameras.orbit.enabled = main === "free";
    this.cameras.dragged = main === "ptz";
  }

  /** Choose the conditions of seeing: real cameras, darkness, visibility in smoke [m] or null. */
  see(seeing) {
    this.seeing = seeing;
    this.tone();
    this.onChange();
  }

  /** Take the size of the parent with the next picture: a canvas that is resized is empty until it is drawn. */
  resize() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    this.resized = true;
    this.size = { width: Math.max(width, 1), height: Math.max(height, 1) };
    this.onChange();
  }

  /** Where the inset is drawn, from the left and below: x, y, width and height [px]. */
  get insetBox() {
    const { width, height } = this.size;
    const wide = Math.round(INSET.share * Math.max(width, height / 2));
    const tall = Math.round((wide * 9) / 16);
    return { x: width - INSET.margin - wide, y: height - INSET.margin - tall, width: wide, height: tall };
  }

  /** The same as a style of what frames it. */
  get insetStyle() {
    const { x, width, height } = this.insetBox;
    return { left: `${x}px`, top: `${INSET.margin}px`, width: `${width}px`, height: `${height}px` };
  }

  /** Draw a state of this scene; states of another are left out. Without a picture the canvas stays as it is. */
  draw(state, time) {
    if (state.scene !== this.number) return false;
    if (state.flags & FLAG.noPicture) {
      this.vehicle.pose(state.pose); // For the instruments.
      return true;
    }
    if (this.resized) {
      this.renderer.setPixelRatio(this.ratio);
      this.renderer.setSize(this.size.width, this.size.height, false);
      this.resized = false;
    }
    this.vehicle.pose(state.picture.length ? state.picture : state.pose);
    if (!this.fitted) {
      this.cameras.fit(this.vehicle.reach(), this.vehicle.box());
      this.fitted = true;
    }
    if (this.ghost) {
      this.ghost.object.visible = (state.flags & FLAG.ghost) !== 0;
      if (this.ghost.object.visible) this.ghost.pose(state.ghost);
    }
    this.shade();
    this.course.clear(this.vehicle.position);
    this.arrows.show(state.contacts, 0.4 * this.cameras.reach);
    this.cameras.follow(this.vehicle.body, time);
    const { width, height } = this.size;
    this.render(this.shown.main, 0, 0, width, height, state);
    if (this.shown.inset) {
      const box = this.insetBox;
      this.render(this.shown.inset, box.x, box.y, box.width, box.height, state);
    }
    if (state.picture.length) this.vehicle.pose(state.pose); // For the instruments.
    if (this.cameras.turns) this.onChange();
    return true;
  }

  /** Draw a view into a box; a real camera's picture has its own shape, and bars beside it. */
  render(view, x, y, width, height, state = null) {
    const { real: on, dark, visibility } = this.seeing;
    const real = on && ON_BOARD.includes(view);
    const [wide, tall] = real ? fitted(width, height) : [width, height];
    const camera = this.cameras.camera[view];
    camera.aspect = real ? WIDE : wide / tall;
    camera.updateProjectionMatrix();
    this.clearSight(view);
    if (!x) this.cameras.tall = tall;
    this.renderer.setScissorTest(true);
    if (wide < width || tall < height) {
      this.renderer.setScissor(x, y, width, height);
      this.renderer.setClearColor(BARS);
      this.renderer.clear();
      this.tone();
    }
    const box = [x + snap((width - wide) / 2), y + snap((height - tall) / 2), wide, tall];
    this.renderer.setViewport(...box);
    this.renderer.setScissor(...box);
    const delayed = state !== null && state.picture.length > 0;
    for (const { sprite } of this.course.labels) sprite.visible &&= !on;
    this.renderer.clear();
    const [slot, lines] = x ? ["inset", tall] : ["main", tall * this.ratio];
    if (!on && !dark && !visibility && !delayed) {
      this.video.forget(slot);
      this.renderer.render(this.scene, camera);
    } else {
      const how = {
        real,
        zoom: view === "ptz" ? this.cameras.ptz.zoom : 1,
        dark,
        visibility,
        lamps: this.cameras.lamps(this.vehicle.body),
        exposed: EXPOSED * this.cameras.reach,
      };
      const { pictureFrame, frame, damage } = state ?? { pictureFrame: 0, frame: 0, damage: 0 };
      const number = `${this.number} ${view} ${pictureFrame || frame}`;
      this.video.draw(this.scene, camera, how, { slot, lines, number, damage, holds: delayed });
    }
  }

  /** Let the vehicle be seen through ground that hides it from the chasing camera; other views are left as they are. */
  clearSight(view) {
    const { aim, clearing, feet } = this.ground.material.uniforms;
    const { centre, reach, bottom } = this.cameras;
    aim.value.copy(centre);
    clearing.value = view === "chase" ? CLEARING * reach : 0;
    feet.value = centre.z + bottom + 0.1 * reach;
  }

  /** Shade the ground below the vehicle, so that it is seen how high above it each link is. */
  shade() {
    const { casters, intoCaster, halves, shaded } = this.ground.material.uniforms;
    casters.value = this.casters.length;
    around.makeEmpty();
    this.casters.forEach(({ link, middle, half }, i) => {
      const frame = intoCaster.value[i].makeTranslation(middle.x, middle.y, middle.z).premultiply(link.matrix);
      around.union(box.setFromCenterAndSize(ORIGIN, size.copy(half).multiplyScalar(2)).applyMatrix4(frame));
      frame.invert();
      halves.value[i].copy(half);
    });
    around.expandByScalar(SOFT);
    shaded.value.set(around.min.x, around.min.y, around.max.x, around.max.y);
  }

  /** Draw coarser where frames take long, and finer again: `interval` is from a frame to the next [ms]. */
  adapt(interval) {
    if (interval > HIDDEN) return;
    this.pace = this.pace === null ? interval : this.pace + 0.05 * (interval - this.pace);
    this.frames++;
    const coarser = RATIOS.filter((ratio) => ratio < this.ratio).at(-1);
    const finer = RATIOS.find((ratio) => ratio > this.ratio && ratio <= this.finest);
    if (this.pace > SLOW && coarser && this.frames > PATIENCE.coarser) this.redefine(coarser);
    else if (this.pace < FAST && finer && this.frames > PATIENCE.finer) this.redefine(finer);
  }

  redefine(ratio) {
    Object.assign(this, { ratio, pace: null, frames: 0 });
    this.resize();
  }

  close() {
    this.resizing.disconnect();
    this.cameras.close();
    dispose(this.scene);
    this.video.dispose();
    this.renderer.dispose();
  }
}

/** Width and height of a real camera's picture in a box [px]. */
const fitted = (width, height) =>
  [Math.min(width, WIDE * height), Math.min(height, width / WIDE)].map((length) => Math.max(4, snap(length)));

/** A length that is whole in pixels of the picture at each of the ratios. */
const snap = (length) => 4 * Math.floor(length / 4);

/** Whether the browser has no graphics card to draw with: smooth edges would cost it four times as much. */
function drawnInSoftware() {
  const probe = document.createElement("canvas").getContext("webgl2");
  const name = probe?.getExtension("WEBGL_debug_renderer_info")?.UNMASKED_RENDERER_WEBGL;
  const software = !name || /swiftshader|llvmpipe|software/i.test(probe.getParameter(name));
  probe?.getExtension("WEBGL_lose_context")?.loseContext();
  return software;
}
