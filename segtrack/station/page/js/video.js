/** The picture as a camera gives it and a link brings it: lens, darkness, smoke, noise and lost blocks, in one pass. */

import { THREE } from "nicegui-scene";

const LINES = 360; // Lines of a real camera's picture
const MOST_LINES = 720; // Most that the pass has for other views
const LENS = 0.08; // Distortion of the division model, over the half height of the picture at zoom 1 [-]
export const WIDE = 16 / 9; // Aspect of a real camera's picture
const LAMPS = 4; // Most lamps
const NIGHT = 1e-5; // Light of the night over daylight: 0.1 lx over 10,000 lx
const BEAM = 0.75; // Cosine of the angle at which a lamp's beam ends
const CONTRAST = 3; // Optical depth of the visibility: exp(-3) = 5 % is left of the contrast
const BRIGHTEST = 1.2; // Light of the brightest surface, over daylight: what is near to a lamp would be white
const VEIL = 0.25; // Share of a lamp's light that dense smoke sends back; rough, multiple scattering is left out
const GAMMA = 2.2; // Light is a display value to this power
const NOISE = { day: 0.012, dark: 0.05 }; // Standard deviation of noise, of the full range

const VERTEX = `
  varying vec2 uv_;
  void main() {
    uv_ = 0.5 + 0.5 * position.xy;
    gl_Position = vec4(position.xy, 0.0, 1.0);
  }`;
const FRAGMENT = `
  varying vec2 uv_;
  uniform sampler2D seen;
  uniform sampler2D depth;
  uniform sampler2D before;
  uniform vec2 halves;      // Tangents of half the angles of what was rendered
  uniform float aspect;
  uniform vec2 size;        // Of it [px]
  uniform float distortion; // Of the lens, over the half height
  uniform float stretch;    // Half height of what was rendered, over that of the picture
  uniform vec2 range;       // Near and far [m]
  uniform float night;      // Light that is not the lamps', of daylight
  uniform vec3 lampAt[${LAMPS}];
  uniform vec3 lampTo[${LAMPS}];
  uniform int lamps;
  uniform float exposed;    // Distance from a lamp at which a surface is as bright as by day [m]
  uniform float extinction; // Of smoke [1/m]
  uniform vec3 haze;
  uniform float noise;
  uniform float moment;
  uniform int damage;
  float chance(vec2 place) {
    vec3 p = fract(vec3(place.xyx) * 0.1031 + moment * 0.013);
    p += dot(p, p.yzx + 33.33);
    return fract((p.x + p.y) * p.z);
  }
  vec3 from(vec2 uv) {
    float d = texture2D(depth, uv).x;
    float z = range.x * range.y / (range.y - d * (range.y - range.x));
    return vec3((2.0 * uv - 1.0) * halves, -1.0) * z;
  }
  // Across the surface at a texel's middle, to the neighbour that is nearer in depth: the other may be behind an edge.
  vec3 across(vec2 uv, vec2 by) {
    vec3 here = from(uv);
    vec3 after = from(uv + by) - here;
    vec3 before_ = here - from(uv - by);
    return abs(after.z) < abs(before_.z) ? after : before_;
  }
  void main() {
    vec2 cell = floor(vec2(uv_.x, 1.0 - uv_.y) * vec2(6.0, 4.0));
    if (((damage >> int(cell.x + 6.0 * cell.y)) & 1) == 1) {
      vec2 block = vec2(48.0 * aspect / 1.78, 27.0);
      vec2 corner = floor(uv_ * block);
      vec2 shift = (vec2(chance(corner), chance(corner + 7.0)) - 0.5) * 0.06;
      gl_FragColor = texture2D(before, clamp((corner + fract(uv_ * block) * 0.5) / block + shift, 0.0, 1.0));
      return;
    }
    vec2 p = (2.0 * uv_ - 1.0) * vec2(aspect, 1.0);
    vec2 flat_ = p / (1.0 - distortion * dot(p, p));
    vec2 uv = 0.5 + 0.5 * flat_ / (stretch * vec2(aspect, 1.0));
    vec3 colour = texture2D(seen, uv).rgb;
    float behind = texture2D(depth, uv).x;
    bool sky = behind >= 1.0;
    vec3 place = from(uv);
    float way = length(place);
    float light = night;
    float beam = 0.0;
    if (lamps > 0) {
      vec2 texel = 1.0 / size;
      vec2 middle = (floor(uv * size) + 0.5) * texel;
      vec3 facing = normalize(cross(across(middle, vec2(texel.x, 0.0)), across(middle, vec2(0.0, texel.y))));
      for (int i = 0; i < ${LAMPS}; i++) {
        if (i >= lamps) break;
        vec3 ray = place - lampAt[i];
        float distance_ = length(ray);
        float inside = smoothstep(${BEAM}, 1.0, dot(ray, lampTo[i]) / distance_);
        beam += inside;
        float fall = exposed * exposed / (distance_ * distance_) * exp(-extinction * distance_);
        if (!sky) light += inside * fall * abs(dot(facing, ray)) / distance_;
      }
    }
    float left = sky && extinction > 0.0 ? 0.0 : exp(-extinction * way);
    vec3 lit = min(light, ${BRIGHTEST}) * pow(colour, vec3(${GAMMA}));
    vec3 veil = (night + ${VEIL} * min(beam, 1.0)) * pow(haze, vec3(${GAMMA}));
    vec3 out_ = pow(mix(veil, lit, left), vec3(1.0 / ${GAMMA}));
    if (noise > 0.0) {
      vec2 pixel = floor(gl_FragCoord.xy);
      float sum = chance(pixel) + chance(pixel + 61.0) + chance(pixel + 127.0) + chance(pixel + 211.0);
      out_ += noise * (sum - 2.0) * 1.732;
    }
    gl_FragColor = vec4(out_, 1.0);
  }`;
const COPY = `
  varying vec2 uv_;
  uniform sampler2D seen;
  void main() { gl_FragColor = texture2D(seen, uv_); }`;

const HAZE = new THREE.Color(0.75, 0.75, 0.75);

export class Video {
  /** @param {THREE.WebGLRenderer} renderer Draws it. */
  constructor(renderer) {
    this.renderer = renderer;
    this.wide = new THREE.PerspectiveCamera();
    this.wide.matrixAutoUpdate = false;
    const vectors = () => Array.from({ length: LAMPS }, () => new THREE.Vector3());
    this.pass = full(FRAGMENT, {
      seen: null, depth: null, before: null, halves: new THREE.Vector2(), aspect: 1,
      size: new THREE.Vector2(), distortion: 0, stretch: 1,
      range: new THREE.Vector2(), night: 1, lampAt: vectors(), lampTo: vectors(), lamps: 0, exposed: 1, extinction: 0, haze: HAZE,
      noise: 0, moment: 0, damage: 0,
    }); // prettier-ignore
    this.copy = full(COPY, { seen: null });
    this.quad = new THREE.Mesh(new THREE.BufferGeometry(), this.copy);
    this.quad.geometry.setAttribute("position", new THREE.Float32BufferAttribute([-1, -1, 0, 3, -1, 0, -1, 3, 0], 3));
    this.quad.frustumCulled = false;
    this.flat = new THREE.Scene().add(this.quad);
    this.eye = new THREE.Camera();
    this.slots = {};
  }

  /**
   * Draw a scene as a camera sees it, where the renderer's viewport is.
   *
   * @param {THREE.Scene} scene What there is.
   * @param {THREE.PerspectiveCamera} camera Where it looks from; its field is that of the middle of the lens.
   * @param {{real: boolean, zoom: number, dark: boolean, visibility: ?number, lamps: object[], exposed: number}} how Whether it is a real
   *   camera, and at which zoom; whether it is dark, visibility in smoke [m], lamps {at, to} in the world, and the distance
   *   from them at which it is as bright as by day [m].
   * @param {{slot: string, lines: number, number: string, damage: number, holds: boolean}} picture Which of the pictures
   *   on the page, lines to draw, its number, damaged slices, and whether it stands while its number is the same.
   */
  draw(scene, camera, how, { slot, lines, number, damage, holds }) {
    const { renderer } = this;
    const box = renderer.getViewport(new THREE.Vector4());
    const own = this.slot(slot, camera.aspect, how.real ? LINES : Math.min(lines, MOST_LINES));
    if (!(holds && own.number === number)) {
      own.number = number;
      own.taken++;
      this.take(scene, camera, how, own, damage);
    }
    renderer.setViewport(box);
    this.show(this.copy, { seen: own.shown.texture });
  }

  /** Take a new picture into a slot. */
  take(scene, camera, { real, zoom, dark, visibility, lamps, exposed }, own, damage) {
    const { renderer, wide } = this;
    const half = Math.tan((camera.fov * Math.PI) / 360);
    const distortion = real ? LENS / (zoom * zoom) : 0;
    const stretch = 1 / (1 - distortion * (1 + camera.aspect ** 2));
    wide.fov = (Math.atan(half * stretch) * 360) / Math.PI;
    Object.assign(wide, { aspect: camera.aspect, near: camera.near, far: camera.far });
    wide.updateProjectionMatrix();
    camera.updateMatrixWorld();
    wide.matrixWorld.copy(camera.matrixWorld);
    wide.matrix.copy(camera.matrixWorld);
    wide.matrixWorldInverse.copy(camera.matrixWorld).invert();
    const scissor = renderer.getScissorTest();
    renderer.setScissorTest(false);
    renderer.setRenderTarget(own.raw);
    renderer.clear();
    renderer.render(scene, wide);
    const { uniforms } = this.pass;
    const shining = dark ? lamps.slice(0, LAMPS) : [];
    shining.forEach(({ at, to }, i) => {
      uniforms.lampAt.value[i].copy(at).applyMatrix4(wide.matrixWorldInverse);
      uniforms.lampTo.value[i].copy(to).transformDirection(wide.matrixWorldInverse);
    });
    uniforms.halves.value.set(half * stretch * camera.aspect, half * stretch);
    uniforms.size.value.set(own.raw.width, own.raw.height);
    uniforms.range.value.set(camera.near, camera.far);
    [own.shown, own.before] = [own.before, own.shown];
    renderer.setRenderTarget(own.shown);
    this.show(this.pass, {
      seen: own.raw.texture,
      depth: own.raw.depthTexture,
      before: own.before.texture,
      aspect: camera.aspect,
      distortion,
      stretch,
      night: dark ? NIGHT : 1,
      lamps: shining.length,
      exposed,
      extinction: visibility ? CONTRAST / visibility : 0,
      noise: real ? (dark ? NOISE.dark : NOISE.day) : 0,
      moment: own.taken % 1024,
      damage,
    });
    renderer.setRenderTarget(null);
    renderer.setScissorTest(scissor);
  }

  show(material, values) {
    for (const [name, value] of Object.entries(values)) material.uniforms[name].value = value;
    this.quad.material = material;
    this.renderer.render(this.flat, this.eye);
  }

  /** What holds a picture of so many lines; made anew for another size. */
  slot(name, aspect, lines) {
    const [height, width] = [Math.max(1, Math.round(lines)), Math.max(1, Math.round(lines * aspect))];
    const own = this.slots[name];
    if (own?.raw.width === width && own.raw.height === height) return own;
    own && release(own);
    const target = () => new THREE.WebGLRenderTarget(width, height, { depthBuffer: false });
    const raw = new THREE.WebGLRenderTarget(width, height);
    raw.depthTexture = new THREE.DepthTexture(width, height, THREE.UnsignedIntType);
    return (this.slots[name] = { raw, shown: target(), before: target(), number: null, taken: 0 });
  }

  /** Keep nothing of a picture: what is drawn next has nothing to do with it. */
  forget(name) {
    if (!this.slots[name]) return;
    release(this.slots[name]);
    delete this.slots[name];
  }

  dispose() {
    Object.values(this.slots).forEach(release);
    for (const material of [this.pass, this.copy]) material.dispose();
    this.quad.geometry.dispose();
  }
}

const release = ({ raw, shown, before }) => [raw, shown, before].forEach((target) => target.dispose());

function full(fragmentShader, values) {
  const uniforms = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
  return new THREE.ShaderMaterial({ vertexShader: VERTEX, fragmentShader, uniforms, depthTest: false, depthWrite: false });
}
