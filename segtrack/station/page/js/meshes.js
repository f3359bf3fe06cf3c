/** Triangle meshes of the station as three.js geometry, and the materials they are shown in. */

import { THREE } from "nicegui-scene";

const SQUARE = 0.25; // Side of the squares on the ground [m]
export const CASTERS = 6; // Most boxes that shade the ground
const SHARP = 25; // Least angle between triangles whose edge is drawn [degrees]

/** A mesh's arrays: points [m], three indices a triangle, and its colour, 0 to 255; all flat, sent in base64. */
export function arraysOf({ points, triangles, colours }) {
  return {
    points: new Float64Array(bytesOf(points)),
    triangles: new Int32Array(bytesOf(triangles)),
    colours: new Float32Array(bytesOf(colours)),
  };
}

const bytesOf = (text) => Uint8Array.from(atob(text), (character) => character.charCodeAt(0)).buffer;

/** Geometry of a mesh, each triangle with its own colour and its own normal. */
export function geometryOf(mesh) {
  const { points, triangles, colours } = arraysOf(mesh);
  const positions = new Float32Array(3 * triangles.length);
  const vertexColours = new Float32Array(3 * triangles.length);
  triangles.forEach((corner, i) => {
    const triangle = 3 * Math.floor(i / 3);
    for (let axis = 0; axis < 3; axis++) {
      positions[3 * i + axis] = points[3 * corner + axis];
      vertexColours[3 * i + axis] = colours[triangle + axis] / 255;
    }
  });
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(positions, 3));
  geometry.setAttribute("color", new THREE.BufferAttribute(vertexColours, 3));
  geometry.computeVertexNormals();
  return geometry;
}

const VERTEX = `
  const vec3 SUN = vec3(0.349, -0.549, 0.759);
  varying vec3 lit;
  varying vec3 place;
  varying vec3 facing;
  void main() {
    vec4 point = vec4(position, 1.0);
    vec3 upwards = normal;
    #ifdef USE_INSTANCING
      point = instanceMatrix * point;
      upwards = mat3(instanceMatrix) * upwards;
    #endif
    upwards = normalize(mat3(modelMatrix) * upwards);
    lit = color * (0.66 + 0.12 * upwards.z + 0.3 * max(dot(upwards, SUN), 0.0));
    place = point.xyz;
    facing = abs(upwards);
    gl_Position = projectionMatrix * modelViewMatrix * point;
  }`;
const FRAGMENT = `
  varying vec3 lit;
  varying vec3 place;
  varying vec3 facing;
  uniform float opacity;
  uniform float brightness;
  uniform float tint;
  uniform vec3 aim;
  uniform float clearing;
  uniform float feet;
  uniform vec4 shaded;
  uniform int casters;
  uniform mat4 intoCaster[CASTERS];
  uniform vec3 halves[CASTERS];
  // The share of light that boxes of the vehicle leave of the sky above a place.
  float unshaded() {
    float left = 1.0;
    if (facing.z < 0.5 || any(lessThan(place.xy, shaded.xy)) || any(greaterThan(place.xy, shaded.zw))) return left;
    for (int i = 0; i < CASTERS; i++) {
      if (i >= casters) break;
      vec3 inside = mat3(intoCaster[i]) * place + intoCaster[i][3].xyz;
      float above = max(-inside.z - halves[i].z, 0.0);
      vec2 aside = max(abs(inside.xy) - halves[i].xy, 0.0) / (0.03 + 0.6 * above);
      float fall = dot(aside, aside) + 5.0 * above;
      if (inside.z < 0.0 && fall < 4.0) left *= 1.0 - 0.55 * exp(-fall);
    }
    return left;
  }
  void main() {
    #ifdef SQUARES
      vec3 view = aim - cameraPosition;
      vec3 seen = place - cameraPosition;
      float share = dot(seen, view) / dot(view, view);
      float beside = length(seen - share * view);
      if (beside < clearing && share < 0.95 && place.z > feet) {
        vec2 cell = mod(floor(gl_FragCoord.xy), 2.0);
        float order = cell.x == cell.y ? 0.5 * cell.x : 0.25 + 0.5 * cell.x;
        float rim = min(1.0, 4.0 * (1.0 - beside / clearing)) * min(1.0, 8.0 * (place.z - feet));
        if (order < 0.75 * rim) discard;
      }
      vec3 cells = floor(place / SQUARES + 0.001) * (1.0 - step(0.9, facing));
      float fading = min(1.0, 4.0 * gl_FragCoord.w);
      gl_FragColor = vec4(lit * brightness * (1.0 - 0.12 * fading * mod(cells.x + cells.y + cells.z, 2.0)) * unshaded(), opacity);
    #else
      gl_FragColor = vec4(mix(lit, vec3(0.2, 0.55, 1.0), tint) * brightness, opacity);
    #endif
  }`;

/** A surface that is lit at its corners: cheap where there is no graphics card. */
function surface(defines, { opacity = 1, tint = 0 } = {}) {
  const transparent = opacity < 1;
  return new THREE.ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    vertexColors: true,
    defines: { ...defines, CASTERS },
    uniforms: {
      opacity: { value: opacity },
      brightness: { value: 1 },
      tint: { value: tint },
      aim: { value: new THREE.Vector3() },
      clearing: { value: 0 },
      feet: { value: 0 },
      shaded: { value: new THREE.Vector4() },
      casters: { value: 0 },
      intoCaster: { value: Array.from({ length: CASTERS }, () => new THREE.Matrix4()) },
      halves: { value: Array.from({ length: CASTERS }, () => new THREE.Vector3()) },
    },
    transparent,
    depthWrite: !transparent,
  });
}

export const solid = () => surface({});
export const translucent = () => surface({}, { opacity: 0.45, tint: 0.6 });

/**
 * Ground has squares that are fixed to the world, so that motion is seen on it, and is darker below the boxes of
 * `casters` within `shaded`, from least to greatest x and y. Three of four pixels are left out of what rises above `feet` within the radius
 * `clearing` around the line to `aim`, fewer near its rim, all [m].
 */
export const squared = () => surface({ SQUARES: SQUARE.toFixed(3) });

/** Lines along the sharp edges of a surface. */
export function edgesOf(geometry) {
  const material = new THREE.LineBasicMaterial({ color: 0x20282f, transparent: true, opacity: 0.55 });
  return new THREE.LineSegments(new THREE.EdgesGeometry(geometry, SHARP), material);
}

/** Let go of what the graphics card holds of an object and all below it. */
export function dispose(object) {
  object.traverse((child) => {
    child.geometry?.dispose();
    child.material?.map?.dispose();
    child.material?.dispose();
    child.dispose?.();
  });
  object.removeFromParent();
}
